//! What was filled in on a form.

#[derive(Debug, Clone, Default)]
pub struct FormFields(pub Vec<(String, String)>);

impl FormFields {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        let fields = self.0.iter();
        fields.filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The version of the job that the form was made from; 0, which no job has, if it has none.
    pub fn version(&self) -> u64 {
        let version = self.get("version").and_then(|version| version.parse().ok());
        version.unwrap_or(0)
    }
}
