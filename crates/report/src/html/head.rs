//! The head of a page: its security policy, its style and its script.

use crate::chart::{Code, Markup, SCRIPT, rules_of_pages};
use crate::fixed;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

pub(super) fn script() -> Code {
    // Without it every word and figure is there.
    Code::fixed(fixed!(file "page.js")).and(&Code::fixed(SCRIPT))
}

fn style() -> Code {
    rules_of_pages().and(&Code::fixed(fixed!(file "page.css")))
}

pub(super) fn write(html: &mut Markup, title: &str) {
    let (style, policy) = (style(), policy(&style(), &script()));
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
        head.style(&style);
    });
}

fn policy(style: &Code, script: &Code) -> String {
    // Only this style and script, named by hashes, act (Content Security Policy Level 3, 2.3.1).
    let hash = |code: &Code| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(code.as_str())));
    let [style, script] = [style, script].map(hash);
    format!("default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_code_by_its_hash() {
        // SHA-256 of "abc": FIPS 180-4, example 1.
        let (abc, nothing) = (Code::fixed(fixed!("abc")), Code::fixed(fixed!("")));
        assert_eq!(
            policy(&abc, &nothing),
            "default-src 'none'; style-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='; \
             script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; base-uri 'none'; form-action 'none'"
        );
    }
}
