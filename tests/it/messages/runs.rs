//! `leadload runs`.

use super::{Page, import};
use crate::util::{Folder, service};

#[test]
fn of_runs() {
    let folder = Folder::with_leads(super::ONE);
    let service = service();
    let mut page = Page::default();
    page.add(&folder, folder.leadload(&["runs", "show"]));
    page.add(&folder, folder.leadload(&["runs", "copy", "--to", "x"]));
    page.add(&folder, folder.leadload(&["runs", "--ledger", "none"]));
    page.add(
        &folder,
        folder.leadload(&["runs"]).env("LEADLOAD_LEDGER", "none"),
    );
    for command in [
        "",
        "show",
        "export --results x.csv",
        "copy --to x",
        "prune --older-than 1d",
    ] {
        let args = format!("runs --ledger nowhere/ledger {command}");
        let args: Vec<&str> = args.split_whitespace().collect();
        page.add(&folder, folder.leadload(&args));
    }
    import(&folder, &service, &[]).expect(0);
    page.add(&folder, folder.leadload(&["runs", "show", "7"]));
    folder
        .import(
            &service,
            &["leads.csv", "--campaign", "Spring promo", "--quiet"],
        )
        .expect(0);
    for args in [
        "show 7",
        "export 7 --results x.csv",
        "export --results none",
        "export --results leads.csv",
        "export --results x.csv --campaign nothing",
        "export --results x.csv --campaign +447911000001",
        "export --results x.xlsx",
        "export --results nowhere/x.csv",
        "copy",
        "copy --to leads.csv",
        "copy --to nowhere/x",
        "forget 1",
        "forget 7 --yes",
        "prune --older-than 0s --ledger leads.csv",
    ] {
        let args = format!("runs {args}");
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, folder.leadload(&args));
    }
    page.is("runs");
}
