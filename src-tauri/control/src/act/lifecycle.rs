use gateway::{AllowError, ChangeError, RenameError};

use super::{ACTOR, models::registered};
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn rename_model(&self, rename: RenameModel) -> Result<ModelView, ControlError> {
        let RenameModel { alias, to } = rename;
        self.gateway().rename_model(ACTOR, &alias, &to).await.map_err(not_renamed)?;
        let unknown = || ControlError::not_found(format!("There is no model \"{alias}\"."));
        registered(&self.gateway().snapshot(), &to).ok_or_else(unknown)
    }

    pub async fn refresh_catalog(&self, _: Nothing) -> Result<CatalogView, ControlError> {
        Ok(self.gateway().refresh_catalog().await)
    }

    pub async fn allow_paid(&self, name: Name) -> Result<ModelView, ControlError> {
        self.gateway().allow_paid(&name.name).await.map_err(not_allowed)?;
        let unknown = || ControlError::not_found(format!("There is no model \"{}\".", name.name));
        registered(&self.gateway().snapshot(), &name.name).ok_or_else(unknown)
    }
}

fn not_renamed(error: ChangeError<RenameError>) -> ControlError {
    let message = error.to_string();
    match error {
        ChangeError::NotSaved(_) => ControlError::internal(message),
        ChangeError::Unfit(_) => ControlError::conflict(message),
        ChangeError::Refused(RenameError::Unknown(_)) => ControlError::not_found(message),
        ChangeError::Refused(RenameError::Bad(_)) => ControlError::bad_input("to", format!("to: {message}")),
        ChangeError::Refused(RenameError::Practice(_)) => ControlError::conflict(message),
        ChangeError::Refused(RenameError::Taken(_) | RenameError::GivenUp { .. }) => {
            ControlError { field: Some("to".to_owned()), ..ControlError::conflict(message) }
        }
    }
}

fn not_allowed(error: ChangeError<AllowError>) -> ControlError {
    let message = error.to_string();
    match error {
        ChangeError::NotSaved(_) => ControlError::internal(message),
        ChangeError::Unfit(_) => ControlError::conflict(message),
        ChangeError::Refused(AllowError::Unknown(_)) => ControlError::not_found(message),
        ChangeError::Refused(AllowError::NotHeld(_)) => ControlError::conflict(message),
    }
}
