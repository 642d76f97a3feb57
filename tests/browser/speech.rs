//! What a screen reader says by itself.

use crate::browser::Browser;
use crate::util::{Folder, contacts, scenario};
use crate::web::Web;

#[test]
fn a_run_of_1000_rows_speaks_at_the_start_at_each_tenth_and_at_the_end() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(1000)));
    let service = scenario("latency_ms = 5\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), "Spring promo (in progress)");
    page.go_on_to_send();
    page.click("Send 1,000 leads");
    page.wait_for_heading("Sending to Spring promo");
    page.listen();
    page.wait_for_heading("Sent");
    page.wait_until("the last word", |page| {
        page.heard()
            .last()
            .is_some_and(|last| last.starts_with("Finished"))
    });
    let heard = page.heard();
    // Tenths that pass within one second are said together.
    assert!((2..=10).contains(&heard.len()), "{heard:?}");
    let (last, tenths) = heard.split_last().unwrap();
    assert!(last.contains(" 1,000 "), "{last}");
    for tenth in tenths {
        assert!(tenth.ends_with(" of 1,000 rows."), "{heard:?}");
    }
}
