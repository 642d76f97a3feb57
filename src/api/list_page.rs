//! A page of a list, in any of the forms that services use: its entries, and where the next one is.
//!
//! Rule: pure. A page that is missed is a lead that counts as gone, or a campaign whose name seems to
//! be the only one. So a next page that cannot be followed is never taken for the end of the list.

use reqwest::Url;
use serde_json::Value;

/// The entries of a page: an array, or an object that has one in `name` or `data`, which may itself
/// be a page.
pub(super) fn entries<'a>(page: &'a Value, name: &str) -> Option<&'a [Value]> {
    match page {
        Value::Array(entries) => Some(entries),
        _ => [name, "data"]
            .into_iter()
            .find_map(|field| entries(page.get(field)?, name)),
    }
}

/// What a page says of the one after it.
#[derive(Debug)]
pub(super) struct NextPage {
    /// `None` if what it says is no address.
    address: Option<Url>,
    number: Option<u64>,
}

impl NextPage {
    /// `page` is the address of a page and `json` its content; `linked` is the next page as the head
    /// of the answer has it. `None` if this is the last page.
    pub(super) fn of(page: &Url, json: &Value, linked: Option<&str>) -> Option<NextPage> {
        let counted = counted(json);
        let address = match (said(json).or(linked), counted) {
            (Some(said), _) => page.join(said).ok(),
            (None, Some(number)) => Some(with_page(page, number)),
            (None, None) => return None,
        };
        let number = address.as_ref().and_then(page_number).or(counted);
        Some(NextPage { address, number })
    }

    /// Its address as the service says it; `None` on another host, where the token must not go. The
    /// scheme stays the same: behind a proxy, the service may call its pages `http`.
    pub(super) fn address(self, page: &Url) -> Option<Url> {
        let said = self.address?;
        let mut next = page.clone();
        next.set_path(said.path());
        next.set_query(said.query());
        (said.host() == page.host() && said.port() == page.port()).then_some(next)
    }

    /// The address of `page` with another number: a service may leave the rest of the query out of what
    /// it says, and then its next page would be one of all leads. `None` without a number that is
    /// higher than that of `page`.
    pub(super) fn numbered(&self, page: &Url) -> Option<Url> {
        let now = page_number(page).unwrap_or(1);
        let next = self.number.filter(|number| *number > now)?;
        Some(with_page(page, next))
    }
}

/// Where an object names the next page: by its address, or by an object with that in `href`.
const NAMES: [&str; 3] = ["/next_page_url", "/links/next", "/_links/next"];

fn said(json: &Value) -> Option<&str> {
    find(json, &|object| {
        NAMES.iter().find_map(|name| {
            let next = object.pointer(name)?;
            let address = next.get("href").unwrap_or(next).as_str()?.trim();
            (!address.is_empty()).then_some(address)
        })
    })
}

fn counted(json: &Value) -> Option<u64> {
    // It may also be a text.
    let read = |number: &Value| number.to_string().trim_matches('"').parse::<u64>().ok();
    let number = |name: &str| find(json, &|object| read(object.get(name)?));
    let (current, last) = (number("current_page")?, number("last_page")?);
    (current < last).then(|| current + 1)
}

/// What `look` finds in the object or in one within it, but not in those of lists: they are entries.
fn find<'a, T>(json: &'a Value, look: &impl Fn(&'a Value) -> Option<T>) -> Option<T> {
    let within = || json.as_object()?.values().find_map(|json| find(json, look));
    look(json).or_else(within)
}

/// The target of the link to the next page in a header `Link` (RFC 8288).
pub(super) fn linked(header: &str) -> Option<String> {
    // A quotation mark behind a backslash ends no quotation.
    let header = header.replace(r"\\", "").replace("\\\"", "");
    pieces(&header, ',')
        .find_map(next_target)
        .map(str::to_owned)
}

fn next_target(link: &str) -> Option<&str> {
    let mut parts = pieces(link, ';').map(str::trim);
    let target = parts.next()?.strip_prefix('<')?.strip_suffix('>')?;
    let mut relations = parts.filter_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then_some(value)
    });
    // Only the first one counts.
    let words = relations.next()?.trim().trim_matches('"');
    let is_next = |word: &str| word.eq_ignore_ascii_case("next");
    words.split_whitespace().any(is_next).then_some(target)
}

/// Splits at a character, but not in quotations or in `<…>`.
fn pieces(text: &str, at: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_target) = (false, false);
    text.split(move |c: char| {
        is_quoted ^= c == '"' && !is_target;
        is_target = !is_quoted && (c == '<' || is_target && c != '>');
        c == at && !is_quoted && !is_target
    })
}

fn page_number(url: &Url) -> Option<u64> {
    let mut pairs = url.query_pairs();
    let (_, number) = pairs.find(|(name, _)| name == "page")?;
    number.parse().ok()
}

fn with_page(url: &Url, number: u64) -> Url {
    let mut next = url.clone();
    let others = url.query_pairs().filter(|(name, _)| name != "page");
    next.query_pairs_mut()
        .clear()
        .extend_pairs(others)
        .append_pair("page", &number.to_string());
    next
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A page of a list, with a query of its own.
    fn page() -> Url {
        Url::parse("https://a.example/list?of=7&page=1").unwrap()
    }

    /// The address of the next page as the service says it, and with nothing but the number changed.
    fn next(json: &Value, linked: Option<&str>) -> Option<(Option<String>, Option<String>)> {
        let next = NextPage::of(&page(), json, linked)?;
        let numbered = next.numbered(&page()).map(String::from);
        Some((next.address(&page()).map(String::from), numbered))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_entries_are_found_in_every_form() {
        let list = json!([{ "id": 1 }, 2]);
        for page in [
            list.clone(),
            json!({ "leads": list }),
            json!({ "data": list }),
            json!({ "data": { "leads": list } }),
            json!({ "data": { "data": list } }),
            json!({ "leads": { "data": list } }),
            json!({ "leads": 2, "data": list }),
        ] {
            assert_eq!(entries(&page, "leads").unwrap().len(), 2, "{page}");
        }
        for page in [json!({ "message": "no" }), json!({ "data": 1 }), json!("x")] {
            assert_eq!(entries(&page, "leads"), None, "{page}");
        }
    }

    #[test]
    fn the_next_page_is_found_in_every_form() {
        let kept = some("https://a.example/list?of=7&page=2");
        let said = some("https://a.example/list?page=2");
        let address = "http://a.example/list?page=2";
        for json in [
            json!({ "next_page_url": address }),
            json!({ "links": { "next": address } }),
            json!({ "links": { "next": { "href": "/list?page=2" } } }),
            json!({ "_links": { "next": { "href": " ?page=2 " } } }),
            json!({ "meta": { "next_page_url": address } }),
            json!({ "meta": { "pagination": { "links": { "next": address } } } }),
            json!({ "data": { "data": [], "next_page_url": address } }),
            json!({ "next_page_url": null, "links": { "next": address } }),
            json!({ "next_page_url": address, "current_page": 1, "last_page": 9 }),
            json!({ "next_page_url": address, "links": [{ "url": address, "label": "2" }] }),
        ] {
            let found = next(&json, None).unwrap();
            assert_eq!(found, (said.clone(), kept.clone()), "{json}");
        }
        for json in [
            json!({ "current_page": 1, "last_page": 2 }),
            json!({ "current_page": "1", "last_page": "3" }),
            json!({ "meta": { "current_page": 1, "last_page": 2 } }),
            json!({ "data": { "data": [], "current_page": 1, "last_page": 2 } }),
            json!({ "next_page_url": null, "current_page": 1, "last_page": 2 }),
            json!({ "links": { "next": "" }, "meta": { "current_page": 1, "last_page": 2 } }),
        ] {
            let found = next(&json, None).unwrap();
            assert_eq!(found, (kept.clone(), kept.clone()), "{json}");
        }
        for json in [
            json!({ "next_page_url": null }),
            json!({ "links": { "next": null }, "meta": { "current_page": 2, "last_page": 2 } }),
            json!({ "current_page": u64::MAX, "last_page": u64::MAX }),
            json!({ "last_page": 2 }),
            json!({ "data": [{ "links": { "next": address }, "current_page": 1, "last_page": 2 }] }),
            json!([{ "next_page_url": address }]),
            json!([]),
        ] {
            assert_eq!(next(&json, None), None, "{json}");
        }
        let by_head = next(&json!([]), Some("?page=2")).unwrap();
        assert_eq!(by_head, (said, kept));
    }

    #[test]
    fn the_token_goes_to_no_other_host_and_no_page_is_dropped_without_a_word() {
        for (said, address, numbered) in [
            ("http://A.example:80/list?page=2", true, true),
            ("https://a.example:443/list?page=2", true, true),
            ("https://a.example:444/list?page=2", false, true),
            ("https://evil.example/list?page=2", false, true),
            ("//evil.example/list?page=2", false, true),
            ("mailto:me@a.example?page=2", false, true),
            ("https://", false, false),
            ("?cursor=eyJpZCI6MTV9", true, false),
            ("?page=1", true, false),
        ] {
            let found = next(&json!({ "next_page_url": said }), None).unwrap();
            let found = (found.0.is_some(), found.1.is_some());
            assert_eq!(found, (address, numbered), "{said}");
        }
    }

    #[test]
    fn links_are_read_as_the_standard_has_them() {
        for link in [
            r#"<?page=2>; rel="next""#,
            "<?page=2>;rel=next",
            r#" <?page=2> ; REL = "Next" ; title="two""#,
            r#"<?page=2>; rel="last NEXT""#,
            r#"<?page=0>; rel="prev", <?page=2>; rel="next", <?page=9>; rel="last""#,
            r#"<?page=9,8;7>; rel=last, <?page=2>; rel=next"#,
            r#"<?page=9>; rel=last; title="a, <b>; rel=next", <?page=2>; rel=next"#,
            r#"<?page=9>; title="5\", wide"; rel=last, <?page=2>; title="\\"; rel=next"#,
            r#"<?page=9>; rel=first; rel=next, <?page=2>; rel=next"#,
        ] {
            assert_eq!(linked(link).as_deref(), Some("?page=2"), "{link}");
        }
        for link in [
            "",
            "<?page=2>",
            "?page=2; rel=next",
            "<?page=2; rel=next",
            r#"<?page=2>; rel="nextpage""#,
            r#"<?page=2>; rev="next""#,
            r#"<?page=2>; title="rel=next""#,
        ] {
            assert_eq!(linked(link), None, "{link}");
        }
    }
}
