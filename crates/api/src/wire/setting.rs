//! Options of the node.

use headwater_platform::SettingOrigin;
use serde::Serialize;
use utoipa::ToSchema;

/// An option of the node.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Setting {
    /// Its name as a flag, without dashes.
    name: String,
    /// Its value. Null where nobody set one, and for secrets.
    #[schema(required)]
    value: Option<String>,
    /// The value in force where nobody set one, in words. Null if there is none.
    #[schema(required)]
    default: Option<String>,
    /// Whether its value is not told.
    is_secret: bool,
    origin: Origin,
}

/// The place where an option was set; a flag counts before the environment, and that before the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SettingOrigin)]
enum Origin {
    Flag,
    Environment,
    File,
    Default,
}

impl From<&headwater_platform::Setting> for Setting {
    fn from(setting: &headwater_platform::Setting) -> Self {
        Self {
            name: setting.name.clone(),
            value: setting.value.clone().filter(|_| !setting.is_secret),
            default: setting.default.clone(),
            is_secret: setting.is_secret,
            origin: match setting.origin {
                SettingOrigin::Flag => Origin::Flag,
                SettingOrigin::Environment => Origin::Environment,
                SettingOrigin::File => Origin::File,
                SettingOrigin::Default => Origin::Default,
            },
        }
    }
}
