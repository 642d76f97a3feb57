//! Why a file that is made from a whole list cannot be made.

use std::io;

use thiserror::Error;

use super::WorkbookError;
use crate::exit::{Failure, StoppedBy};
use crate::message::{Message, Text};
use crate::source::SourceError;

#[derive(Debug, Error)]
pub enum ListError {
    /// The list cannot be read, or was changed.
    #[error("{}", .0.message)]
    Unreadable(SourceError),
    /// What should go with the rows of the list belongs to another list.
    #[error("{0}")]
    OtherList(Text),
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
}

impl From<SourceError> for ListError {
    fn from(error: SourceError) -> ListError {
        ListError::Unreadable(error)
    }
}

impl From<ListError> for Failure {
    fn from(error: ListError) -> Failure {
        let message = match error {
            ListError::Unreadable(error) => return error.into(),
            ListError::OtherList(what) => {
                Message::new(what, text!("choose the list again as a new list"))
            }
            ListError::Workbook(WorkbookError::DoesNotFit(what)) => {
                Message::new(what, text!("download the results as CSV"))
            }
            ListError::Workbook(WorkbookError::Io(error)) => {
                Message::without_hint(text!("{error}", error = &error))
            }
        };
        Failure::new(StoppedBy::Disk, message)
    }
}

impl From<io::Error> for ListError {
    fn from(error: io::Error) -> ListError {
        ListError::Workbook(error.into())
    }
}
