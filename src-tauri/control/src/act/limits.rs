use gateway::view::LimitsView;
use store_by::by;

use super::reading;
use crate::{Control, ControlError, dto::*};
