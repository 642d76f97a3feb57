//! One lead to the user.

use super::{Page, import};
use crate::util::{Folder, scenario};

#[test]
fn of_test_leads() {
    let folder = Folder::with_leads("phone,name\n12,Nobody\n+447911000000,Ada\n");
    folder.write("none.csv", "phone\n12\n");
    folder.write("dnc.txt", "+447911999999\n");
    let mut page = Page::default();
    let mut add = |reply: &str, args: &str| {
        let service = scenario(reply);
        let args: Vec<&str> = args.split(' ').collect();
        let run = import(&folder, &service, &args);
        let typed = run.typed();
        page.push(&folder, &typed, run.output());
    };
    let own = "--test-to +447911999999";
    for reply in [
        "",
        "[[rule]]\nreply = { status = 422, body = '{\"message\":\"bad +447911999999\"}' }",
        "[[rule]]\nreply = { status = 500, body = '' }",
        "[[rule]]\nreply = { then = 'drop' }",
        "[[rule]]\nreply = { status = 200, body = '<html>' }",
        "[[rule]]\nreply = { status = 429, body = '' }",
        "[[rule]]\nreply = { status = 503, headers = { Retry-After = '60' }, body = '' }",
        "[[rule]]\nreply = { status = 401, body = '{}' }",
    ] {
        add(reply, own);
    }
    for number in ["07911999999", "me", "+4479119"] {
        add("", &format!("--test-to {number}"));
    }
    add("", "--test-to 07400123456 --region GB");
    add("", &format!("{own} --suppress dnc.txt"));
    folder.write("leads.csv", "phone\n12\n");
    add("", own);
    page.is("test-leads");
}
