//! The privileges of this process.

use host::Privileges;

use super::finding::Finding;

const AREA: &str = "privileges";

pub(super) fn findings(privileges: &Privileges) -> Vec<Finding> {
    const USER: &str = "user namespaces";
    let root = if privileges.privileged() {
        "can be created directly (CAP_SYS_ADMIN and CAP_NET_ADMIN)"
    } else {
        "inside a user namespace only: netassay runs rootless"
    };
    let user = match (privileges.user_namespaces.obstacle(), privileges.privileged()) {
        (None, _) => Finding::ok(AREA, USER, "allowed by the machine's settings"),
        (Some(obstacle), true) => Finding::warn(AREA, USER, "not allowed for ordinary users", obstacle),
        (Some(obstacle), false) => {
            Finding::fail(AREA, USER, "not allowed here, and this is not root", obstacle)
        }
    };
    vec![Finding::ok(AREA, "network namespaces", root), user]
}
