//! Columns.

use super::{Page, check};
use crate::util::Folder;

#[test]
fn of_the_mapping() {
    let folder = Folder::with_leads("phone,customer,city\n+447911000001,Ada,Leeds\n");
    folder.write("none.csv", "name,city\nAda,Leeds\n");
    folder.write(
        "below.csv",
        "Export of Monday,,\n\nphone,name,city\n?,Ada,Leeds\n",
    );
    folder.write(
        "two.csv",
        "Mobile,name,Phone\n+447911000001,Ada,+447911000002\n",
    );
    folder.write("alike.csv", "phone,note,note\n+447911000001,a,b\n");
    folder.write(
        "clash.csv",
        "phone,Full Name,full_name\n+447911000001,a,b\n",
    );
    folder.write("header.csv", "name,phone\nAda,+447911000001\n");
    folder.write("blank.csv", "phone,,???\n+447911000001,a,b\n");
    let mut page = Page::default();
    for args in [
        "none.csv",
        "below.csv",
        "header.csv --no-header",
        "two.csv",
        "clash.csv",
        "leads.csv --phone-column fone",
        "leads.csv --phone-column 4",
        "leads.csv --var custmer",
        "leads.csv --skip-column nothing",
        "leads.csv --campaign-column list",
        "leads.csv --region-column country",
        "leads.csv --var city --skip-column city",
        "leads.csv --set city=York",
        "leads.csv --var place=city --set place=York",
        "leads.csv --set a=1 --set b=2 --set a=3",
        "leads.csv --set +447911000002=1 --set +447911000002=2",
        "leads.csv --phone-column +447911000002",
        "leads.csv --var x=+447911000002",
        "alike.csv --var note",
        "blank.csv --var 2",
        "blank.csv --var 3",
        "leads.csv two.csv --var city",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, check(&folder, &args));
    }
    page.is("mapping");
}
