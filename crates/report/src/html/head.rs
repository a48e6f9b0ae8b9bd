//! The head of a page: its security policy, its style and its script.

use crate::chart::{Fixed, Markup, SCRIPT, rules_of_pages};
use crate::fixed;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

pub(super) fn script() -> Fixed {
    // Without it every word and figure is there.
    fixed!(file "page.js").and(&SCRIPT)
}

pub(super) fn write(html: &mut Markup, title: &str) {
    let style = rules_of_pages().and(&fixed!(file "page.css"));
    let policy = policy(&style, &script());
    html.element("head", &[], |head| {
        head.fixed(fixed!("<meta charset=\"utf-8\"/>"));
        let attributes =
            [("http-equiv", "Content-Security-Policy".into()), ("content", policy.as_str().into())];
        head.empty("meta", &attributes);
        head.fixed(fixed!(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
             <meta name=\"color-scheme\" content=\"light dark\"/>\
             <meta name=\"referrer\" content=\"no-referrer\"/>"
        ));
        head.element("title", &[], |name| name.text(title));
        head.code("style", &style);
    });
}

fn policy(style: &Fixed, script: &Fixed) -> String {
    // Only this style and script, named by hashes, act (Content Security Policy Level 3, 2.3.1).
    let hash = |code: &Fixed| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(code.as_str())));
    let [style, script] = [style, script].map(hash);
    format!("default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_code_by_its_hash() {
        // SHA-256 of "abc": FIPS 180-4, example 1.
        assert_eq!(
            policy(&fixed!("abc"), &fixed!("")),
            "default-src 'none'; style-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='; \
             script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; base-uri 'none'; form-action 'none'"
        );
    }
}
