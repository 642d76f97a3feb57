//! Messages that are not errors but worth knowing.

use crate::util::{Folder, Output, service};

use super::{ONE, Page};

/// Only the warnings.
fn warnings(output: Output) -> Output {
    let lines = output.stderr.lines();
    let warnings: Vec<&str> = lines
        .filter_map(|line| line.split_once(" WARN ").map(|(_, text)| text))
        .collect();
    Output {
        stderr: warnings.join("\n"),
        stdout: String::new(),
        ..output
    }
}

#[test]
fn of_warnings() {
    let folder = Folder::with_leads(ONE);
    folder.write("none.csv", "phone,name\n");
    folder.write(
        "other.rejects.csv",
        "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\n\
         +447911000009,1,invalid,phone_impossible,too long,\n",
    );
    let service = service();
    let mut page = Page::default();
    for args in [
        "import none.csv --campaign 101 --rate none",
        "import leads.csv --campaign 101 --ledger none --rate none",
        "import other.rejects.csv --campaign 101 --rate none",
        "import leads.csv --campaign 101 --rate none",
        "check leads.csv --allow-duplicates --campaign 101",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = folder.leadload(&args).at(&service);
        let typed = run.typed();
        page.push(&folder, &typed, warnings(run.output()));
    }
    #[cfg(unix)]
    for mode in [0o644, 0o660] {
        use std::os::unix::fs::PermissionsExt;
        folder.write("open.token", service.token());
        let open = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path("open.token"), open).unwrap();
        let run = folder.leadload(&["campaigns", "--token-file", "open.token"]);
        let output = run.env("LEADLOAD_BASE_URL", &service.base_url()).output();
        page.push(
            &folder,
            &format!("chmod {mode:o} open.token"),
            warnings(output),
        );
    }
    page.is("warnings");
}
