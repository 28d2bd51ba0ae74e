use control::view::TurnStatus;
use expect_test::expect;

use super::made::{conversation, turn};
use super::{shown, turn_shown};
use crate::args::{Color, Common};
use crate::out::Out;

fn out() -> Out {
    Out::new(&Common { json: false, data_dir: None, url: None, yes: false, color: Color::Never })
}

#[test]
fn a_conversation_with_its_turns_and_why() {
    let mut failed = turn(2);
    (failed.status, failed.alias, failed.error) =
        (TurnStatus::Error, String::new(), "every member failed".to_owned());
    (failed.tokens_in, failed.finish, failed.failed_over[0].to) = (None, None, String::new());
    expect![[r#"
        r20261129-154501-9f3a6c01 of bench/agents, by claude-cli, with beta, answered
        Make the loop honour Retry-After
        2 turns, 1 tool call, 1 failed over, 3000 in, 40 out, $0.0061 and 1 turn of unknown cost
        model                     status  verdict     call
        beta                      ok      useful      r20261129-154501-9f3a6c01.1
        gamma (shadow of turn 2)  ok      not useful  r20261129-154501-9f3a6c01.1.s1
        turn  model  status  seconds  tools  tokens              cost     ended by
        2            error   6.4      1      unknown in, 20 out  unknown
        1     beta   ok      6.4      1      1500 in, 20 out     $0.0061  tool_calls
        turn 2 passed from alpha to nobody: rate limited (429, wait 40 s)
        turn 2: every member failed
        turn 1 passed from alpha to beta: rate limited (429, wait 40 s)
        why nobody in turn 2: best record
           candidate  this shape       all              work  record
        1  alpha      3 of 4 useful    5 of 9 useful    21    3 of 4 useful on code
        2  beta       no evidence yet  no evidence yet  0     no evidence yet"#]]
    .assert_eq(&shown(&conversation(), &[failed, turn(1)], out()).to_string());
}

#[test]
fn a_conversation_whose_first_turn_runs() {
    let mut begun = conversation();
    (begun.running, begun.alias, begun.calls) = (true, String::new(), Vec::new());
    expect![[r#"
        r20261129-154501-9f3a6c01 of bench/agents, by claude-cli, running
        Make the loop honour Retry-After
        2 turns, 1 tool call, 1 failed over, 3000 in, 40 out, $0.0061 and 1 turn of unknown cost
        no turn has ended yet"#]]
    .assert_eq(&shown(&begun, &[], out()).to_string());
}

#[test]
fn one_turn_with_all_that_is_known_of_it() {
    expect![[r#"
        turn  model  status  seconds  tools  tokens           cost     ended by
        1     beta   ok      6.4      1      1500 in, 20 out  $0.0061  tool_calls
        call                r20261129-154501-9f3a6c01.1
        endpoint            fake
        served              beta-1, answered as gamma-2-0711
        API                 anthropic, translated to chat
        first token         0.7 s
        read from cache     1200
        gateway's own time  0.9 ms
        turn 1 passed from alpha to beta: rate limited (429, wait 40 s)
        could not take it: delta (takes no tools)
        left out or changed on the way: top_k (not in this API)
        why beta in turn 1: best record
           candidate  this shape       all              work  record
        1  alpha      3 of 4 useful    5 of 9 useful    21    3 of 4 useful on code
        2  beta       no evidence yet  no evidence yet  0     no evidence yet"#]]
    .assert_eq(&turn_shown(&turn(1), out()).to_string());
}
