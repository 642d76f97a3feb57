//! Finds out what a list is: its form, its columns and what stands in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::form_columns::FormColumns;
use super::job::{Job, JobRecord};
use super::site::Site;
use super::work;
use crate::exit::Failure;
use crate::import::{Request, inputs, results_file, service};
use crate::intake::{ColumnSurvey, ColumnValue, InspectedInput};
use crate::results::has_results_header;

/// What is known about a list, whatever its columns are used for.
#[derive(Debug)]
pub struct ListFacts {
    pub inspected: InspectedInput,
    pub columns: FormColumns,
    survey: ColumnSurvey,
}

impl ListFacts {
    pub fn rows(&self) -> u64 {
        self.survey.rows
    }

    /// Whether the whole list is in memory.
    pub fn is_spreadsheet(&self) -> bool {
        self.inspected.form.text().is_none()
    }

    /// How many cells of a column have something in them.
    pub fn filled(&self, column: usize) -> u64 {
        self.survey
            .columns
            .get(column)
            .map_or(0, |column| column.filled)
    }

    /// The values of a column, if they are few.
    pub fn values(&self, column: usize) -> Option<&[ColumnValue]> {
        self.survey.columns.get(column)?.values.as_deref()
    }
}

/// Begins to read the list, unless that has been done.
pub fn begin(site: &Arc<Site>, job: &Arc<Job>) {
    let (site, own) = (Arc::clone(site), Arc::clone(job));
    work::begin_for(
        job,
        |state| &mut state.read,
        async move |rows| {
            site.forget_facts_but(own.id);
            read(&site, &own, &rows).await.map(Some)
        },
    );
}

/// The list as it was read, so that a spreadsheet is read once. Where somebody may have changed it
/// since, it is read again.
pub async fn surveyed(
    job: &Job,
    record: &JobRecord,
    request: &mut Request,
) -> Result<Vec<InspectedInput>, Failure> {
    match job.inspected(record) {
        Some(list) => inputs::known(request, vec![list]).await,
        None => inputs::survey(request).await,
    }
}

async fn read(site: &Site, job: &Arc<Job>, rows: &Arc<AtomicU64>) -> Result<ListFacts, Failure> {
    let request = site.request(&job.record())?;
    let mut surveyed = inputs::survey_forms(&request).await?;
    let Some(inspected) = surveyed.pop() else {
        return Err(Failure::usage(message!("there is no list", "choose one")));
    };
    if has_results_header(&inspected.header.names) {
        return Err(results_file(inspected.input.name()));
    }
    let (job, rows) = (Arc::clone(job), Arc::clone(rows));
    let reading = service::on_a_thread(move || -> Result<ListFacts, Failure> {
        let survey = inspected.survey_columns(|read| {
            rows.store(read, Ordering::Relaxed);
            // A list that was replaced meanwhile is not read to its end.
            job.state().read.is_of(&rows)
        })?;
        Ok(ListFacts {
            columns: FormColumns::of(&inspected),
            inspected,
            survey: survey.unwrap_or_default(),
        })
    });
    reading.await
}
