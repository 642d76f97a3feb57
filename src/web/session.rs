#[derive(Debug, Clone)]
pub struct Session { pub form_token: String }
