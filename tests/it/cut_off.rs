//! A list that ends in the middle of its last phone cell.

use crate::util::{Folder, service};

fn list(last: &str) -> String {
    let rows = (1..=6).map(|row| format!("Ada {row},+4917139204{row:02}\n"));
    let rows: String = rows.collect();
    format!("name,phone\n{rows}Zoe,{last}")
}

const CUT: &str = "+4917139204";

fn check(folder: &Folder, file: &str) -> serde_json::Value {
    folder
        .leadload(&["check", file, "--format", "json"])
        .output()
        .json()
}

#[test]
fn a_number_that_the_end_of_the_list_cuts_off_is_not_sent() {
    let folder = Folder::with_leads(&list(CUT));
    let service = service();
    let output = folder.import_leads(&service, &[]).expect(1);
    output.shows("cut_off");
    let last = folder.records("leads.results.csv").pop().unwrap();
    assert_eq!(
        (&*last["status"], &*last["error_code"], &*last["line"]),
        ("invalid", "cut_off", "8")
    );
    let found = check(&folder, "leads.csv");
    assert_eq!(found["counts"]["invalid"], 1, "{found}");

    // Given back, it stays so until the cell changes or the code is cleared.
    let rejects = folder.read("leads.rejects.csv");
    folder.import(&service, &["leads.rejects.csv"]).expect(1);
    folder.write("changed.csv", rejects.replacen(CUT, "+491713920407", 1));
    assert_eq!(check(&folder, "changed.csv")["counts"]["ready"], 1);
    folder.write("cleared.csv", rejects.replace(",cut_off,", ",,"));
    assert_eq!(check(&folder, "cleared.csv")["counts"]["ready"], 1);
    folder.write("same.csv", &rejects);
    assert_eq!(check(&folder, "same.csv")["counts"]["invalid"], 1);
}

#[test]
fn a_list_that_only_lacks_its_last_line_end_loses_nobody() {
    for text in [
        list("+491713920407"),
        list(&format!("{CUT}\n")),
        list(&format!("\"{CUT}\"")),
    ] {
        let folder = Folder::with_leads(&text);
        assert_eq!(check(&folder, "leads.csv")["counts"]["ready"], 7, "{text}");
    }
}

#[test]
fn each_list_of_several_is_looked_at_by_itself() {
    let folder = Folder::new();
    folder.write("a.csv", list(CUT));
    folder.write("b.csv", "name,phone\nCy,+4917139205");
    let args = ["check", "a.csv", "b.csv", "--format", "json"];
    let found = folder.leadload(&args).expect(1).json();
    assert_eq!(
        (&found["counts"]["ready"], &found["counts"]["invalid"]),
        (&7.into(), &1.into())
    );
}

#[test]
fn a_do_not_call_list_that_is_cut_off_is_refused_with_its_line() {
    let folder = Folder::with_leads("name,phone\nAda,+447911000001\n");
    folder.write("dnc.csv", list(CUT));
    let args = ["check", "leads.csv", "--suppress", "dnc.csv"];
    folder.leadload(&args).expect(2).tells("line 8");
    folder.write("dnc.csv", list("+491713920407"));
    folder.leadload(&args).expect(0);
}
