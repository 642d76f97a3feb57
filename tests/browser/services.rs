//! The first start: no service is set up.

use crate::browser::Browser;
use crate::screens::{LIST, SERVICE};
use crate::util::{Folder, service};
use crate::web::Web;

#[test]
fn a_service_is_tried_out_and_kept() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::without_service(&folder);
    web.open(&page);
    page.expect(SERVICE.title, SERVICE.heading);
    page.expect_accessible();
    page.fill("Address of the service", &service.base_url());
    page.fill("Access token", "wrong");
    page.click("Continue");
    page.expect_errors();
    assert_eq!(page.value("Address of the service"), service.base_url());
    assert_eq!(page.value("Access token"), "");
    page.fill("Access token", service.token());
    page.click("Continue");
    page.expect(LIST.title, LIST.heading);

    web.kill();
    let web = Web::without_service(&folder);
    web.open(&page);
    page.expect(LIST.title, LIST.heading);
}
