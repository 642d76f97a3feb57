//! `leadload runs undo` and `leadload runs reconcile`.

use super::Page;
use crate::util::{Folder, Run, contacts, number, replaced, scenario};

#[test]
fn of_undo() {
    let folder = Folder::with_leads(&contacts(4));
    let unsure = format!(
        "any_token = true\naccounts_by_token = true\nlead_times = 'none'\n[[rule]]\n\
         phone_number = '{}'\nreply = {{ then = 'drop', store = true }}",
        number(1)
    );
    let service = scenario(&unsure);
    folder.import_leads(&service, &[]).expect(1);
    let mut page = Page::default();
    let mut add = |run: Run| {
        let typed = run.typed();
        page.push(&folder, &typed, run.output());
    };
    let runs = |args: &str| {
        let args: Vec<&str> = ["runs"].into_iter().chain(args.split(' ')).collect();
        folder.leadload(&args)
    };
    add(runs("undo 1").at(&service));
    add(runs("undo 7 --yes").at(&service));
    add(runs("undo 1 --yes").at(&scenario("")));
    add(runs("undo 1 --yes")
        .at(&service)
        .env("LEADLOAD_TOKEN", "theirs"));
    add(runs("reconcile 1 --rate none").at(&service));
    add(runs("undo 1 --dry-run --rate none").at(&service));
    let service = replaced(service, "lead_calls = 'none'");
    add(runs("undo 1 --yes").at(&service));
    add(runs("reconcile 1").at(&service));
    let service = replaced(service, "[[campaign]]\nid = 8\nname = 'Theirs'");
    add(runs("undo 1 --yes").at(&service));

    let folder = Folder::with_leads(&contacts(4));
    let service = scenario("");
    folder.import_leads(&service, &[]).expect(0);
    let mut add = |run: Run| {
        let typed = run.typed();
        page.push(&folder, &typed, run.output());
    };
    let runs = |args: &str| {
        let args: Vec<&str> = ["runs"].into_iter().chain(args.split(' ')).collect();
        folder.leadload(&args).at(&service)
    };
    add(runs("reconcile 1"));
    add(runs("undo 1 --dry-run"));
    add(runs("undo 1 --yes --rate none"));
    add(folder.import_leads(&service, &[]));
    folder.write("leads.csv", "phone\nn/a\n");
    folder.import_leads(&service, &[]).expect(1);
    add(runs("undo 2 --yes"));
    page.is("undo");
}
