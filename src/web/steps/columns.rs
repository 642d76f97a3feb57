//! *Columns*: who is called, and what the agent is told about them.
//!
//! The screen shows the settings as they are kept, so every button of the form first keeps what was
//! chosen and then shows it again.

use std::sync::Arc;

use axum::extract::{RawQuery, Request};
use maud::{Markup, html};

use super::{checked, facts, not_changed, screen, trouble_of_check};
use crate::exit::Failure;
use crate::import::service::on_a_thread;
use crate::intake::PlannedInput;
use crate::mapping::{MappingError, PhoneColumn, comparable};
use crate::report::share;
use crate::text::{counted, grouped, shortened};
use crate::web::checking;
use crate::web::column_form::{ColumnForm, MAX_PHONE_COLUMNS, phone_value};
use crate::web::earlier;
use crate::web::form_columns::FormColumns;
use crate::web::job::{Job, JobRecord, NotChanged};
use crate::web::layout::{FieldError, Screen, labelled, see_other, status_of, table_head};
use crate::web::previews;
use crate::web::reading::ListFacts;
use crate::web::reading_form;
use crate::web::server::FormFields;
use crate::web::server::upload;
use crate::web::trouble::{Question, Trouble};
use crate::web::visit::{Answer, CurrentJob, Visit};
use crate::web::words::upload_error;
use crate::web::work::WorkState;

const HELP: &str = "The phone number is always sent. Tick only what the agent needs.";

const NOTHING_TICKED: &str = "Nothing is ticked, so the agent will know only the phone number. Press Continue again if that is what you want.";

const UNKNOWN_ROWS: &str = "These are rows to fix, but leadload does not know of which list, so the settings of that list are not known. Choose them all again, above all the do-not-call list.";

/// The query of the screen after `Preview`.
const PREVIEW: &str = "preview";

/// Waits for the check, and only then decides which step is next.
const AFTER_CHECK: &str = "problems?next";

/// How much is shown of a value.
const VALUE: usize = 30;

pub async fn show(visit: Visit, CurrentJob(job): CurrentJob, RawQuery(query): RawQuery) -> Answer {
    // `Preview` was pressed: it is shown as soon as the list is checked.
    if query.as_deref() == Some(PREVIEW)
        && let Err(response) = checked(&visit, &job).await
    {
        let has_failed = matches!(job.state().check, WorkState::Failed(_));
        if !has_failed {
            return Err(response);
        }
    }
    shown(&visit, &job, Vec::new(), None).await
}

async fn shown(
    visit: &Visit,
    job: &Arc<Job>,
    mut errors: Vec<FieldError>,
    typed: Option<ColumnForm>,
) -> Answer {
    let status = status_of(&errors);
    let facts = facts(visit, job).await?;
    let record = job.record();
    let columns = &facts.columns;
    let planned = plan(visit, &record, &facts).await;
    let trouble = match &planned {
        Ok(_) => {
            job.state().asks_for_country();
            trouble_of_check(job)
        }
        Err(trouble) => Some(trouble.clone()),
    };
    if let Some(trouble) = &trouble {
        errors.push(FieldError::of(trouble, Some(field_of(trouble))));
    }
    let form = form_of(visit, &record, &facts, planned.as_ref().ok(), typed).await;
    let first = form.can_be_sent(columns).next();
    let is_asking = errors.is_empty() && job.state().asks_about_nothing;
    if let Some(first) = first.filter(|_| is_asking) {
        errors.push(FieldError::at(&format!("send-{first}"), NOTHING_TICKED));
    }
    let question = trouble
        .as_ref()
        .and_then(|trouble| trouble.question.as_ref());
    let sheets = trouble.as_ref().and_then(Trouble::sheets);
    let sections = Sections {
        question,
        visit,
        job,
        facts: &facts,
        columns,
        form: &form,
        record: &record,
    };
    let screen = Screen {
        heading: "What should the agent know?".into(),
        help: HELP.into(),
        back: Some(visit.job_path(job.id, "campaign")),
        errors,
        body: Some(html! {
            @if facts.inspected.rejects.is_some() && !record.has_earlier_settings && !record.has_columns { p.note { (UNKNOWN_ROWS) } }
            @if let Some(question) = question.filter(|asked| is_about_list(asked)) { (reading_form::question(visit, job, question, None)) }
            (sections.form(is_asking))
            (reading_form::section(visit, job, &facts, sheets.is_some()))
        }),
        status,
        ..screen(visit, job, "Columns", "columns")
    };
    Ok(screen.respond(visit))
}

/// The settings as the form shows them, or what was typed into it in place of them.
async fn form_of(
    visit: &Visit,
    record: &JobRecord,
    facts: &ListFacts,
    planned: Option<&PlannedInput>,
    typed: Option<ColumnForm>,
) -> ColumnForm {
    let options = visit.site.options_of(record);
    let mut form = ColumnForm::of(record, &options, facts, planned);
    if let Some(typed) = typed {
        form.take_typed(typed);
    }
    if let Some(last) = last_sent(visit, record).await {
        form.compare(&last);
    }
    form
}

/// The variables that were last sent to the campaign of this list.
async fn last_sent(visit: &Visit, record: &JobRecord) -> Option<Vec<String>> {
    let campaign = record.options.mapping.campaign.as_deref()?.clone();
    let site = Arc::clone(&visit.site);
    let looking = on_a_thread(move || -> Result<_, Failure> {
        Ok(earlier::variables_last_sent(&site, &campaign))
    });
    looking.await.ok()?
}

/// Applies the settings to the first rows of the list.
async fn plan(
    visit: &Visit,
    record: &JobRecord,
    facts: &Arc<ListFacts>,
) -> Result<PlannedInput, Trouble> {
    let request = visit.site.request(record).map_err(|f| Trouble::of(&f))?;
    let settings = request.settings().map_err(|f| Trouble::of(&f))?;
    let facts = Arc::clone(facts);
    let planning = on_a_thread(move || -> Result<_, MappingError> {
        PlannedInput::new(facts.inspected.clone(), &settings.reading.mapping)
    });
    planning.await.map_err(|failure| Trouble::of(&failure))
}

/// The field in which the trouble is cured.
fn field_of(trouble: &Trouble) -> &'static str {
    match &trouble.question {
        Some(Question::PhoneColumns(_) | Question::PhoneColumn) => "phone",
        Some(Question::Sheet(_)) => "sheet",
        Some(Question::HiddenRows(_)) => "hidden-rows",
        Some(Question::UnknownMarks | Question::MostMarked(..)) => "marks",
        Some(Question::Country) => "country",
        Some(Question::Columns | Question::Again) | None => "columns",
    }
}

/// Whether it is asked above the choice of columns.
fn is_about_list(question: &Question) -> bool {
    matches!(
        question,
        Question::Sheet(_) | Question::UnknownMarks | Question::MostMarked(..)
    )
}

struct Sections<'a> {
    visit: &'a Visit,
    job: &'a Job,
    facts: &'a ListFacts,
    columns: &'a FormColumns,
    form: &'a ColumnForm,
    record: &'a JobRecord,
    question: Option<&'a Question>,
}

impl Sections<'_> {
    fn form(&self, is_asking: bool) -> Markup {
        let action = self.visit.job_path(self.job.id, "columns");
        html! {
            form #columns method="post" action=(action) enctype="multipart/form-data" {
                input type="hidden" name="form_token" value=(self.visit.form_token);
                input type="hidden" name="version" value=(self.record.version);
                @if is_asking { input type="hidden" name="nothing" value="yes"; }
                // The button that Enter presses: the first one of a form. `Continue` stands below.
                button.first-button type="submit" name="action" value="continue" tabindex="-1" aria-hidden="true" {}
                fieldset {
                    legend { "Who is called" }
                    div.choices {
                        div { (self.phones()) }
                        div { (self.country()) }
                        div { (self.only()) }
                        div { (self.blocked()) }
                    }
                }
                (self.variables())
                (previews::opening_line(self.form))
                p.buttons {
                    button type="submit" name="action" value="preview" { "Preview" } " "
                    button.primary type="submit" name="action" value="continue" { "Continue" }
                }
            }
            (previews::section(self.job, self.form))
        }
    }

    /// The columns, and the chosen one with its area codes if these are in another column.
    fn phone_options(&self, chosen: Option<PhoneColumn>, with_numbers: bool) -> Markup {
        let pair = chosen.filter(|phone| phone.area_code.is_some());
        let single = chosen.filter(|phone| phone.area_code.is_none());
        html! {
            @if let Some(pair) = pair {
                option value=(phone_value(pair)) selected { (shortened(&self.columns.phone_name(pair), 60)) }
            }
            @for (at, name) in self.columns.named() {
                option value=(at) selected[single.is_some_and(|phone| phone.number == at)] {
                    (shortened(&name, 60)) @if with_numbers { (self.numbers(at)) }
                }
            }
        }
    }

    fn phones(&self) -> Markup {
        let chosen = &self.form.phones;
        let further = (chosen.len().max(1) + 1).min(MAX_PHONE_COLUMNS);
        html! {
            (labelled("phone", "Phone number", html! {
                select #phone name="phone" required {
                    option value="" { "Choose a column" }
                    (self.phone_options(chosen.first().copied(), true))
                }
            }))
            @for at in 1..further {
                (labelled(&format!("phone-{at}"), "If empty, use", html! {
                    select id={ "phone-" (at) } name="phone" {
                        option value="" { "no other column" }
                        (self.phone_options(chosen.get(at).copied(), false))
                    }
                }))
            }
        }
    }

    /// How many numbers a column has, if several have some.
    fn numbers(&self, at: usize) -> String {
        let Some(Question::PhoneColumns(candidates)) = self.question else {
            return String::new();
        };
        let mut candidates = candidates.iter();
        let found = candidates.find(|one| self.columns.find(&one.name) == Some(at));
        found.map_or_else(String::new, |one| {
            format!(
                " ({} in the first rows)",
                counted(one.numbers as u64, "number")
            )
        })
    }

    fn country(&self) -> Markup {
        let chosen = &self.form.country;
        html! {
            (labelled("country", "Country", html! {
                select #country name="country" aria-describedby="country-help" {
                    option value="" selected[chosen.is_empty()] { "As each number says (+44 …)" }
                    optgroup label="A column of the list" {
                        @for (at, name) in self.columns.named() {
                            @let value = format!("column-{at}");
                            option value=(value) selected[*chosen == value] { (shortened(&name, 60)) }
                        }
                    }
                    optgroup label="One country for all" {
                        @for (code, name) in crate::phone::Region::all_by_name() {
                            option value=(code) selected[*chosen == code] { (name) }
                        }
                    }
                }
            }))
            p #country-help .hint {
                "For numbers without a country code, such as 07911 123456. "
                @if let Some(found) = &self.form.country_found { (found) }
            }
            @if self.form.asks_for_doubt {
                p.field {
                    label {
                        input type="checkbox" name="numbers-are-right" value="yes" checked[self.form.numbers_are_right];
                        " The numbers are right as they are"
                    }
                }
            }
        }
    }

    fn only(&self) -> Markup {
        let rules = &self.form.only;
        html! {
            @for (rule, (column, values)) in rules.iter().enumerate() {
                (self.only_column(rule, Some(*column)))
                (self.only_values(rule, *column, values))
            }
            (self.only_column(rules.len(), None))
            @for text in &self.form.only_lost {
                p.field {
                    label {
                        input type="checkbox" name="keep-only" value=(text) checked;
                        " " bdi { (text.replacen('=', " = ", 1)) } ": this list has no such column"
                    }
                }
            }
            p { button type="submit" name="action" value="values" { "Show values" } }
        }
    }

    fn only_column(&self, rule: usize, chosen: Option<usize>) -> Markup {
        let id = format!("only-{rule}");
        let label = match rule {
            0 => "Only send rows where",
            _ => "And where",
        };
        html! {
            (labelled(&id, label, html! {
                select id=(id) name=(id) {
                    option value="" { "send all rows" }
                    @for (at, name) in self.columns.named() {
                        @if chosen == Some(at) || self.facts.values(at).is_some_and(|values| !values.is_empty()) {
                            option value=(at) selected[chosen == Some(at)] { (shortened(&name, 60)) }
                        }
                    }
                }
            }))
        }
    }

    fn only_values(&self, rule: usize, column: usize, chosen: &[String]) -> Markup {
        let known = self.facts.values(column).unwrap_or_default();
        let empty = self.facts.rows() - self.facts.filled(column);
        let is_known = |chosen: &&String| {
            let same = |value: &str| comparable(value) == comparable(chosen);
            chosen.trim().is_empty() && empty > 0 || known.iter().any(|value| same(&value.text))
        };
        // Values that were chosen before and do not occur in this list.
        let absent = chosen.iter().filter(|chosen| !is_known(chosen));
        let absent = absent.map(|value| (value.as_str(), 0));
        let is_chosen = |value: &str| {
            let value = comparable(value);
            chosen.iter().any(|one| comparable(one) == value)
        };
        html! {
            ul.values aria-label={ "Values of " (self.columns.name(column)) } {
                @for (value, rows) in known.iter().map(|value| (value.text.as_str(), value.rows)).chain((empty > 0).then_some(("", empty))).chain(absent) {
                    li {
                        label {
                            input type="checkbox" name={ "only-" (rule) "-value" } value=(value) checked[is_chosen(value)];
                            " " bdi { @if value.is_empty() { em { "(empty)" } } @else { (shortened(value, VALUE)) } }
                            " (" (counted(rows, "row")) ")"
                        }
                    }
                }
            }
        }
    }

    fn blocked(&self) -> Markup {
        html! {
            (labelled("blocked", "Do-not-call list", html! {
                input #blocked type="file" name="list";
            }))
            p { button type="submit" name="action" value="block" { "Add this list" } }
            @for name in &self.form.blocked_by_settings {
                p.hint { bdi { (name) } " applies too: the settings of leadload name it." }
            }
            @if !self.form.blocked.is_empty() {
                ul.blocked {
                    @for (at, name) in self.form.blocked.iter().enumerate() {
                        li {
                            bdi { (name) } " "
                            button type="submit" name="action" value={ "remove-" (at) } {
                                "Remove" span.unseen { " " (name) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn variables(&self) -> Markup {
        html! {
            fieldset {
                legend { "What the agent is told" }
                p.buttons {
                    button type="submit" name="action" value="all" { "Select all" } " "
                    button type="submit" name="action" value="none" { "Select none" }
                }
                @if !self.form.lost.is_empty() {
                    p.note { "Sent to this campaign last time, and not now: " (self.form.lost.join(", ")) "." }
                }
                @if !self.form.new.is_empty() {
                    p.note { "Not sent to this campaign before: " (self.form.new.join(", ")) "." }
                }
                @if self.columns.beyond > 0 {
                    p.note {
                        "This list has " (grouped(self.columns.beyond as u64)) " more columns, which can't be chosen here. "
                        "If one of them is needed, delete columns that nobody needs and choose the list again."
                    }
                }
                div.scroll {
                    table.columns {
                        (table_head(&["Send", "Column", "Filled", "For example", "Name for the agent"]))
                        tbody {
                            @for at in self.form.can_be_sent(self.columns) { (self.variable(at)) }
                        }
                    }
                }
            }
        }
    }

    fn variable(&self, at: usize) -> Markup {
        let (choice, name) = (&self.form.variables[at], self.columns.name(at));
        let examples = choice.examples.iter().map(|value| shortened(value, VALUE));
        let (rows, filled) = (self.facts.rows(), self.facts.filled(at));
        let empty = rows.saturating_sub(filled);
        html! {
            tr {
                td.tick {
                    label {
                        input type="checkbox" id={ "send-" (at) } name={ "send-" (at) } value="yes"
                            checked[choice.is_sent] aria-describedby={ "column-" (at) " about-" (at) };
                        span { " Send" }
                    }
                }
                th id={ "column-" (at) } scope="row" { bdi { (shortened(&name, 60)) } }
                td.number { (share(filled, rows)) }
                td.examples {
                    bdi { (examples.collect::<Vec<_>>().join(" · ")) }
                    div id={ "about-" (at) } {
                        @if choice.is_private {
                            p.warning { (name) " may be private. If you tick it, it goes to the calling service and the agent may say it." }
                        }
                        @if empty > 0 {
                            // Shown while the column is ticked.
                            p.warning.lacking {
                                (people(empty)) " no " bdi { (shortened(&name, 60)) } ". "
                                "The agent may use a default. Leave them out, or check the script."
                            }
                        }
                    }
                }
                td.called {
                    input type="text" id={ "name-" (at) } name={ "name-" (at) } value=(choice.name)
                        aria-label={ "Name for " (name) } spellcheck="false" autocomplete="off";
                }
            }
        }
    }
}

/// `212 people have`, `1 person has`.
fn people(count: u64) -> String {
    match count {
        1 => "1 person has".to_owned(),
        _ => format!("{} people have", grouped(count)),
    }
}

pub async fn choose(visit: Visit, CurrentJob(job): CurrentJob, request: Request) -> Answer {
    let not_changed = |why| not_changed(&visit, &job, "columns", &why);
    let folder = match job.new_folder() {
        Ok(folder) => folder,
        Err(error) => return Ok(not_changed(NotChanged::Io(error))),
    };
    let received = match upload::receive(request, folder.path()).await {
        Ok(received) => received,
        Err(error) => {
            let errors = vec![FieldError::at("blocked", upload_error(&error))];
            return shown(&visit, &job, errors, None).await;
        }
    };
    let facts = facts(&visit.patiently(), &job).await?;
    let fields = &received.fields;
    let action = fields.get("action").unwrap_or("continue");
    let present = visit.site.options_of(&job.record());
    let blocked = received.file.as_ref().map(|(_, path)| path.clone());
    let has_list = blocked.is_some();
    let goes_on = action == "continue";
    let chosen = ColumnForm::from_fields(fields, &facts.columns, &facts, &present, action);
    let is_asking = chosen
        .as_ref()
        .is_ok_and(|chosen| goes_on && asks_about_nothing(&job.record(), fields, chosen, &facts));
    // A browser does not send a do-not-call list a second time: it is kept whatever else is wrong.
    let wrong = trouble_of_check(&job);
    if chosen.is_ok() || has_list {
        let changed = job.change(fields.version(), |record| {
            if let Ok(chosen) = &chosen {
                chosen.apply(record, &present, &facts.columns, action);
                record.has_columns |= goes_on && !is_asking;
            }
            ColumnForm::change_lists(record, blocked, action, wrong.as_ref());
        });
        if let Err(why) = changed {
            return Ok(not_changed(why));
        }
    }
    if has_list {
        let _ = folder.keep();
    }
    if let Err((errors, typed)) = chosen {
        return shown(&visit, &job, errors, Some(*typed)).await;
    }
    job.state().asks_about_nothing = is_asking;
    Ok(see_other(&match action {
        "continue" if !is_asking => {
            checking::begin(&visit.site, &job);
            job.wait_until(visit.until, |state| state.check.is_over())
                .await;
            visit.job_path(job.id, next_step(&job))
        }
        "preview" => {
            checking::begin(&visit.site, &job);
            visit.job_path(job.id, &format!("columns?{PREVIEW}#preview"))
        }
        _ => visit.job_path(job.id, "columns"),
    }))
}

/// Whether to ask if it is right that the agent is told nothing.
fn asks_about_nothing(
    record: &JobRecord,
    fields: &FormFields,
    chosen: &ColumnForm,
    facts: &ListFacts,
) -> bool {
    let has_more = chosen.can_be_sent(&facts.columns).next().is_some();
    let is_answered = fields.get("nothing").is_some() || has_agreed_to_nothing(record);
    has_more && !chosen.sends_something() && !is_answered
}

/// Whether somebody has gone on before with nothing ticked.
fn has_agreed_to_nothing(record: &JobRecord) -> bool {
    let sent = record.options.mapping.var.as_ref();
    record.has_columns && sent.is_some_and(Vec::is_empty)
}

/// The step after the columns, as the check has found.
pub fn next_step(job: &Job) -> &'static str {
    let state = job.state();
    let has_asked = state.has_asked_for_country;
    match &state.check {
        check if !check.is_over() => AFTER_CHECK,
        WorkState::Failed(_) => "columns",
        WorkState::Done(checked) if checked.doubt.is_some() => "columns",
        WorkState::Done(checked) if checked.without_country.is_some() && !has_asked => "columns",
        WorkState::Done(checked) if checked.problems() == 0 => "send",
        _ => "problems",
    }
}
