//! Results and rejects files: where they stand, and what they never do.

use crate::util::{Folder, service};

#[test]
fn a_rejects_file_can_be_mended_and_given_back_as_it_is() {
    let folder = Folder::with_leads(
        "name,phone,city\nAda,+447911000001,Leeds\nBob,x,York\nCy,+447911000003\nDi,+447911000004,Bath,extra,\"a,b\"\n",
    );
    let service = service();
    folder
        .import(&service, &["leads.csv", "--campaign", "101"])
        .expect(1);
    let rejects = folder.read("leads.rejects.csv");
    assert!(
        rejects
            .lines()
            .nth(3)
            .unwrap()
            .ends_with(",\"extra,\"\"a,b\"\"\""),
        "{rejects}"
    );

    // Bob is mended. Cy is filled in, but nobody has said so. Di is done.
    let mended = rejects
        .replace("Bob,x,", "Bob,+447911000002,")
        .replace("Cy,+447911000003,,", "Cy,+447911000003,Hull,")
        .replace(
            "Di,+447911000004,Bath,4,invalid,field_count,",
            "Di,+447911000004,Bath,4,invalid,,",
        );
    folder.write("leads.rejects.csv", mended);
    folder
        .import(&service, &["leads.rejects.csv", "--campaign", "101"])
        .expect(1);
    assert_eq!(
        folder.column("leads.rejects.results.csv", "status"),
        ["created", "invalid", "created"]
    );
    assert_eq!(
        folder.read("leads.rejects.rejects.csv"),
        "name,phone,city,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\n\
         Cy,+447911000003,Hull,2,invalid,field_count,\"not mended yet; put each cell under its header, then clear the cell leadload_error_code\",\n"
    );
    let leads = service.leads();
    let names: Vec<&str> = leads
        .iter()
        .map(|lead| lead.variables["name"].as_str())
        .collect();
    assert_eq!(names, ["Ada", "Bob", "Di"]);
    assert!(
        leads.iter().all(|lead| lead.variables.len() == 2),
        "{leads:?}"
    );
}

#[test]
fn files_that_stand_there_already_are_kept_under_another_name() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("leads.results.csv", "mine");
    folder.write("leads.rejects.csv", "mine too");
    let output = folder
        .import(&service(), &["leads.csv", "--campaign", "101"])
        .expect(0);
    let names = folder.names();
    assert_eq!(names.len(), 4, "{names:?}");
    let kept = |kind: &str| {
        let name = names
            .iter()
            .find(|name| name.starts_with(&format!("leads.{kind}.2")))
            .unwrap();
        // leads.results.20261121T031022Z.csv
        assert_eq!(
            name.len(),
            format!("leads.{kind}.20261121T031022Z.csv").len()
        );
        assert!(output.stdout.contains(name.as_str()), "{}", output.stdout);
        folder.read(name)
    };
    assert_eq!(kept("results"), "mine");
    assert_eq!(kept("rejects"), "mine too");
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"]);
}

#[test]
fn outputs_can_be_named_or_left_out() {
    let folder = Folder::with_leads("phone\nx\n");
    folder
        .import(
            &service(),
            &[
                "leads.csv",
                "--campaign",
                "101",
                "--results",
                "none",
                "--rejects",
                "mend.csv",
            ],
        )
        .expect(1);
    assert_eq!(folder.names(), ["leads.csv", "mend.csv"]);
}

#[test]
fn an_output_that_is_an_input_another_output_or_a_folder_is_refused() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    std::fs::create_dir(folder.path("folder")).unwrap();
    let service = service();
    for (args, text) in [
        (
            ["--results", "./leads.csv", "--rejects", "none"],
            "is an input",
        ),
        (
            ["--results", "x.csv", "--rejects", "./x.csv"],
            "two outputs would be written",
        ),
        (
            ["--results", "folder", "--rejects", "none"],
            "is not a regular file",
        ),
        (
            ["--results", "nowhere/x.csv", "--rejects", "none"],
            "cannot write `nowhere/x.csv`",
        ),
    ] {
        let output = folder
            .import(
                &service,
                &[&["leads.csv", "--campaign", "101"][..], &args].concat(),
            )
            .expect(2);
        assert!(output.stderr.contains(text), "{}", output.stderr);
    }
    assert_eq!(service.stats().lead_requests, 0);
    assert_eq!(folder.names(), ["folder", "leads.csv"]);
}

#[test]
fn inputs_are_never_changed() {
    let text = "phone,name\n+447911000001,Ada\nx,Bob\n";
    let folder = Folder::with_leads(text);
    folder
        .import(&service(), &["leads.csv", "--campaign", "101"])
        .expect(1);
    assert_eq!(folder.read("leads.csv"), text);
}

#[test]
fn formulas_are_made_harmless_in_results_and_in_the_added_columns_only() {
    let folder = Folder::with_leads("phone,name\n=1+1,=cmd\n+44 7911 000001,Ada\n");
    folder
        .import(&service(), &["leads.csv", "--campaign", "101"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "phone_number"),
        ["'=1+1", "+44 7911 000001"]
    );
    assert!(
        folder
            .read("leads.rejects.csv")
            .contains("\n=1+1,=cmd,1,invalid,")
    );
}

#[test]
fn a_byte_order_mark_comes_back_in_results_and_rejects() {
    let folder = Folder::with_leads("\u{FEFF}phone,name\n+447911000001,Ada\nx,Bob\n");
    folder
        .import(&service(), &["leads.csv", "--campaign", "101"])
        .expect(1);
    assert!(
        folder
            .read("leads.results.csv")
            .starts_with("\u{FEFF}row,line,")
    );
    assert!(
        folder
            .read("leads.rejects.csv")
            .starts_with("\u{FEFF}phone,name,leadload_row")
    );
}

#[cfg(unix)]
#[test]
fn outputs_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    folder
        .import(&service(), &["leads.csv", "--campaign", "101"])
        .expect(1);
    for name in ["leads.results.csv", "leads.rejects.csv"] {
        let mode = std::fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
