//! What this process may do.

use host::Privileges;

use super::finding::{Finding, Status};

const AREA: &str = "privileges";

pub(super) fn findings(privileges: &Privileges) -> Vec<Finding> {
    let root = if privileges.privileged() {
        Finding::new(
            AREA,
            "network namespaces",
            Status::Ok,
            "can be created directly (CAP_SYS_ADMIN and CAP_NET_ADMIN)",
        )
    } else {
        Finding::new(
            AREA,
            "network namespaces",
            Status::Ok,
            "inside a user namespace only: netassay runs rootless",
        )
    };
    let user = match (privileges.user_namespaces.obstacle(), privileges.privileged()) {
        (None, _) => Finding::new(AREA, "user namespaces", Status::Ok, "allowed by the machine's settings"),
        (Some(obstacle), true) => {
            Finding::new(AREA, "user namespaces", Status::Warn, "not allowed for ordinary users")
                .fix(obstacle)
        }
        (Some(obstacle), false) => {
            Finding::new(AREA, "user namespaces", Status::Fail, "not allowed here, and this is not root")
                .fix(obstacle)
        }
    };
    vec![root, user]
}
