//! The campaign list in the forms seen in public.

use serde_json::{Value, json};

use super::config::{Campaign, ListIdType, ListShape, SandboxConfig};

/// The list's body. `page` counts from 1, `url` is the list's own, without a query; both are of
/// use to the paginated form alone.
pub(super) fn list(config: &SandboxConfig, page: usize, url: &str) -> Value {
    let all = &config.campaigns;
    match config.list_shape {
        ListShape::Campaigns => json!({ "campaigns": entries(config, all) }),
        ListShape::Bare => json!(entries(config, all)),
        ListShape::Data => json!({ "data": entries(config, all) }),
        ListShape::Paginated => one_page(config, page, url),
    }
}

fn entries(config: &SandboxConfig, campaigns: &[Campaign]) -> Vec<Value> {
    let entry = |campaign: &Campaign| {
        let id = match config.list_id_type {
            ListIdType::String => json!(campaign.id.to_string()),
            ListIdType::Integer => json!(campaign.id),
        };
        json!({
            "id": id,
            "name": campaign.name,
            "created_at": campaign.created_at,
            "updated_at": campaign.updated_at,
            "status": campaign.status,
        })
    };
    campaigns.iter().map(entry).collect()
}

/// Half of the list, rounded up, so that even the examples have two pages.
fn one_page(config: &SandboxConfig, page: usize, url: &str) -> Value {
    let size = config.campaigns.len().div_ceil(2).max(1);
    let mut pages = config.campaigns.chunks(size);
    let last = pages.len().max(1);
    let shown = page.checked_sub(1).and_then(|index| pages.nth(index));
    let link = |number: usize| format!("{url}?page={number}");
    json!({
        "current_page": page,
        "data": entries(config, shown.unwrap_or_default()),
        "last_page": last,
        "next_page_url": (page < last).then(|| link(page + 1)),
        "per_page": size,
        "prev_page_url": (page > 1).then(|| link(page - 1)),
        "total": config.campaigns.len(),
    })
}
