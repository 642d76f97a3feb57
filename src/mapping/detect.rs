//! Finding the phone column by its header.

use super::MappingError;
use super::columns::Columns;
use super::spec::snake;

/// Headers that mean a phone number by themselves, in their snake form.
const WHOLE_NAMES: &[&str] = &[
    "phone",
    "phone_number",
    "phonenumber",
    "phone_no",
    "phone_nr",
    "telephone",
    "telephone_number",
    "tel",
    "tel_no",
    "mobile",
    "mobile_phone",
    "mobile_number",
    "mobile_no",
    "mobilephone",
    "cell",
    "cellphone",
    "cell_phone",
    "cell_number",
    "contact_number",
    "msisdn",
    "telefon",
    "telefonnummer",
    "handy",
    "handynummer",
    "mobil",
    "mobilnummer",
    "rufnummer",
    "téléphone",
    "telefono",
    "teléfono",
    "móvil",
    "movil",
    "celular",
    "cellulare",
    "telefone",
    "telemóvel",
    "telefoon",
    "telefoonnummer",
    "gsm",
];

/// Words that suggest one inside a longer header (`Phone (work)`).
const WORDS: &[&str] = &[
    "phone",
    "telephone",
    "mobile",
    "cell",
    "tel",
    "telefon",
    "handy",
    "téléphone",
    "teléfono",
    "telefono",
    "móvil",
    "celular",
    "msisdn",
];

/// Headers that mean a phone number where nothing else does.
const LAST_RESORTS: &[&str] = &["number", "contact", "contact_no", "nummer"];

/// The one column whose header looks like that of a phone number. Headers that
/// mean it as a whole come before those that merely contain such a word, so that
/// `phone` is not in doubt because of `phone verified`.
pub(super) fn phone_column(columns: &Columns<'_>) -> Result<usize, MappingError> {
    let tiers: [fn(&str) -> bool; 3] = [
        |name| WHOLE_NAMES.contains(&name),
        |name| name.split('_').any(|word| WORDS.contains(&word)),
        |name| LAST_RESORTS.contains(&name),
    ];
    let found = tiers
        .iter()
        .map(|fits| columns.that(|header| !is_several(header) && fits(&snake(header))))
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    match found[..] {
        [column] => Ok(column),
        [] => Err(MappingError::NoPhoneColumn {
            headers: columns.names(),
            input: columns.input.to_owned(),
        }),
        _ => Err(MappingError::SeveralPhoneColumns {
            columns: found
                .iter()
                .map(|column| columns.headers[*column].clone())
                .collect(),
            input: columns.input.to_owned(),
        }),
    }
}

/// Whether a header is really several, in a file that has something else than commas
/// between its cells.
fn is_several(header: &str) -> bool {
    header.contains([';', '\t', '|'])
}
