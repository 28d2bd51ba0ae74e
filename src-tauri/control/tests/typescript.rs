//! The window's types are those of the command table: `UPDATE_EXPECT=1` writes them again.

#[test]
fn generated_typescript_is_current() {
    expect_test::expect_file!["../../../ui/src/host/gen.ts"].assert_eq(&control::typescript());
}
