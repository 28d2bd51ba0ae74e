//! Tools and the choice among them.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::node::Node;
use crate::{
    gemini::schema,
    model::{Request, Tool, ToolChoice, ToolMode, ToolRef},
    notice::Notice,
    raw::Raw,
};

pub(super) fn write<'a>(
    request: &'a Request,
    body: &mut Vec<(&'a str, Node<'a>)>,
    notices: &mut Vec<Notice>,
) {
    if request.tools.is_empty() {
        return;
    }
    let (mut functions, mut vendors) = (Vec::new(), Vec::new());
    for (at, tool) in request.tools.iter().enumerate() {
        match tool {
            Tool::Function { name, description, parameters, strict, .. } => {
                if *strict == Some(true) {
                    notices.push(Notice::new(format!("tools[{at}].strict"), "not sent to members"));
                }
                functions.push(declaration(name, description.as_deref(), parameters.as_ref()));
            }
            Tool::Vendor { raw, .. } => vendors.push(Node::Raw(Cow::Borrowed(raw))),
            // `prepare` has made functions of these.
            Tool::Custom { .. } => {}
        }
    }
    let mut tools = Vec::new();
    if !functions.is_empty() {
        tools.push(Node::Object(vec![("functionDeclarations", Node::List(functions))]));
    }
    tools.extend(vendors);
    body.push(("tools", Node::List(tools)));
    if let Some(choice) = &request.tool_choice {
        body.push(("toolConfig", json!({ "functionCallingConfig": calling(choice) }).into()));
    }
    if request.parallel_tool_calls == Some(false) {
        let field = request.spelling("parallel_tool_calls");
        notices.push(Notice::new(field, "not sent to members"));
    }
}

fn declaration<'a>(name: &'a str, description: Option<&'a str>, parameters: Option<&'a Raw>) -> Node<'a> {
    let mut fields = vec![("name", Node::from(name))];
    fields.extend(description.map(|text| ("description", text.into())));
    if let Some(mut parameters) = parameters.map(Raw::value) {
        schema::with_items(&mut parameters);
        // An object of no properties is refused: no parameters are none.
        let has_any =
            parameters.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        if has_any {
            fields.push(("parameters", parameters.into()));
        }
    }
    Node::Object(fields)
}

fn calling(choice: &ToolChoice) -> Value {
    let names = |tools: &[ToolRef]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Named(tool) => json!({ "mode": "ANY", "allowedFunctionNames": [tool.name] }),
        ToolChoice::Allowed { mode: ToolMode::Required, tools } => {
            json!({ "mode": "ANY", "allowedFunctionNames": names(tools) })
        }
        // With `AUTO` a list is refused.
        ToolChoice::Allowed { mode: ToolMode::Auto, tools } => {
            json!({ "mode": "VALIDATED", "allowedFunctionNames": names(tools) })
        }
        ToolChoice::Vendor { raw, .. } => raw.value(),
    }
}
