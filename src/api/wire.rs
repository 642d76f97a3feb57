//! What is sent and received, in the form of the interface document.

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::list_page::entries;
use crate::campaign::Campaign;
use crate::lead::CampaignId;
use crate::phone::PhoneNumber;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariablesShape {
    /// `[{"name":"Ada"}]`: the form in the interface document.
    #[default]
    Array,
    /// `{"name":"Ada"}`: the form in the documentation of newer deployments.
    Object,
}

/// The parts of a lead that stay the same during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeadForm {
    pub variables_shape: VariablesShape,
    /// The value of `allow_dupplicate`.
    pub allow_duplicates: bool,
}

#[derive(Serialize)]
struct LeadBody<V> {
    #[serde(serialize_with = "as_text")]
    phone_number: PhoneNumber,
    campaign_id: Option<CampaignId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<V>,
    // The interface document spells it this way.
    allow_dupplicate: bool,
}

impl LeadForm {
    /// The body for one lead. Without variables, the field `variables` is left out.
    pub fn body<'a>(
        &self,
        phone: PhoneNumber,
        campaign: CampaignId,
        variables: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Bytes {
        self.json(phone, Some(campaign), variables).into()
    }

    /// The body of a request for display, with `null` for a campaign that is not known yet. Never
    /// sent.
    pub fn preview<'a>(
        &self,
        phone: PhoneNumber,
        campaign: Option<CampaignId>,
        variables: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> String {
        let json = self.json(phone, campaign, variables);
        String::from_utf8_lossy(&json).into_owned()
    }

    fn json<'a>(
        &self,
        phone: PhoneNumber,
        campaign: Option<CampaignId>,
        variables: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Vec<u8> {
        let has_variables = variables.clone().next().is_some();
        let body = LeadBody {
            phone_number: phone,
            campaign_id: campaign,
            variables: has_variables.then_some(Variables {
                pairs: variables,
                shape: self.variables_shape,
            }),
            allow_dupplicate: self.allow_duplicates,
        };
        #[expect(
            clippy::expect_used,
            reason = "strings, integers and booleans with string keys, written to memory"
        )]
        let json = serde_json::to_vec(&body).expect("a lead is always JSON");
        json
    }
}

pub fn values_in(body: &[u8]) -> Vec<String> {
    fn collect(json: &Value, values: &mut Vec<String>) {
        match json {
            Value::String(text) => values.push(text.clone()),
            Value::Array(all) => all.iter().for_each(|json| collect(json, values)),
            Value::Object(all) => all.values().for_each(|json| collect(json, values)),
            _ => {}
        }
    }
    let mut values = Vec::new();
    if let Ok(lead) = serde_json::from_slice::<Value>(body) {
        collect(&lead["variables"], &mut values);
    }
    values
}

fn as_text<S: Serializer>(phone: &PhoneNumber, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(phone)
}

struct Variables<I> {
    pairs: I,
    shape: VariablesShape,
}

impl<'a, I: Iterator<Item = (&'a str, &'a str)> + Clone> Serialize for Variables<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            VariablesShape::Object => serializer.collect_map(self.pairs.clone()),
            VariablesShape::Array => serializer.collect_seq([Variables {
                pairs: self.pairs.clone(),
                shape: VariablesShape::Object,
            }]),
        }
    }
}

/// The campaigns of a page; `None` if it is no list of them.
pub(super) fn campaigns(page: &Value) -> Option<Vec<Campaign>> {
    let listed = entries(page, "campaigns")?.iter();
    // A campaign without an id cannot be used, but the others can.
    Some(listed.filter_map(campaign).collect())
}

/// A listed campaign; `None` if it has no id. Ids are strings or numbers. The
/// other fields may have any form.
fn campaign(json: &Value) -> Option<Campaign> {
    let text = |field| match json.get(field) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
    };
    Some(Campaign {
        id: Some(text("id")).filter(|id| !id.is_empty())?,
        name: text("name"),
        status: text("status"),
        created_at: text("created_at"),
        updated_at: text("updated_at"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(form: LeadForm, variables: &[(&str, &str)]) -> String {
        let phone = PhoneNumber::from_e164("+447911123456").unwrap();
        let body = form.body(phone, CampaignId(42), variables.iter().copied());
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn the_body_is_that_of_the_interface_document() {
        assert_eq!(
            body(
                LeadForm::default(),
                &[("customer_name", "Ada"), ("city", "Leeds \"N\"")]
            ),
            r#"{"phone_number":"+447911123456","campaign_id":42,"variables":[{"customer_name":"Ada","city":"Leeds \"N\""}],"allow_dupplicate":false}"#
        );
    }

    #[test]
    fn variables_are_left_out_when_there_are_none() {
        let form = LeadForm {
            allow_duplicates: true,
            ..LeadForm::default()
        };
        assert_eq!(
            body(form, &[]),
            r#"{"phone_number":"+447911123456","campaign_id":42,"allow_dupplicate":true}"#
        );
    }

    #[test]
    fn variables_can_be_one_object() {
        let form = LeadForm {
            variables_shape: VariablesShape::Object,
            ..LeadForm::default()
        };
        assert_eq!(
            body(form, &[("city", "")]),
            r#"{"phone_number":"+447911123456","campaign_id":42,"variables":{"city":""},"allow_dupplicate":false}"#
        );
    }

    #[test]
    fn every_list_shape_seen_in_the_wild_is_read() {
        let one = r#"{"id":"7","name":"Spring","created_at":"2025-01-02T03:04:05.000000Z","status":"paused"}"#;
        let two = r#"{"name":"no id"},{"id":8,"name":"Fall","created_at":null,"updated_at":"2025-01-02 03:04:05","status":3,"x":{}}"#;
        for json in [
            format!(r#"{{"campaigns":[{one},{two}]}}"#),
            format!("[{one},{two}]"),
            format!(r#"{{"data":[{one},{two}],"next_page_url":null,"total":2}}"#),
            format!(r#"{{"data":{{"campaigns":[{one},{two}]}}}}"#),
        ] {
            let listed = campaigns(&serde_json::from_str(&json).unwrap()).unwrap();
            let ids: Vec<_> = listed
                .iter()
                .map(|c| (c.id.as_str(), c.name.as_str(), c.status.as_str()))
                .collect();
            assert_eq!(
                ids,
                [("7", "Spring", "paused"), ("8", "Fall", "3")],
                "{json}"
            );
        }
        assert!(campaigns(&serde_json::json!({"message": "x"})).is_none());
    }
}
