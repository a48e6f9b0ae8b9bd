//! The workflow files for CI servers, which users copy, are YAML: read by PyYAML.

use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::process::run;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;

/// Prints nothing; fails for a file that is no YAML, or no table of jobs.
const READ: &str = "
import sys, yaml
for name in sys.argv[1:]:
    with open(name, encoding='utf-8') as file:
        workflow = yaml.safe_load(file)
    if not isinstance(workflow, dict) or not workflow:
        sys.exit(f'{name} is no table')
    jobs = workflow.get('jobs', workflow)
    steps = [job for job in jobs.values() if isinstance(job, dict) and ('steps' in job or 'script' in job)]
    if len(steps) < 2:
        sys.exit(f'{name} has fewer than two jobs')
";

/// Pythons that may have the module: one of the user's own hides Debian's.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let files = workspace.tracked_files()?;
    let is_workflow = |name: &&String| name.starts_with("docs/ci/") && name.ends_with(".yml");
    let files: Vec<&String> = files.iter().filter(is_workflow).collect();
    if files.is_empty() {
        return Err(Failure::Check("git tracks no workflow in docs/ci: looked in the wrong place?".into()));
    }
    let Some(python) = PYTHONS.into_iter().find(|python| has_yaml(python)) else {
        report.skip("workflows", format!("python3 has no module yaml; {} files unchecked", files.len()));
        return Ok(Ending::NotRun);
    };
    run(workspace.command(python).args(["-c", READ]).args(&files))?;
    Ok(Ending::Ok)
}

fn has_yaml(python: &str) -> bool {
    let mut import = Command::new(python);
    import.args(["-c", "import yaml"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success())
}
