export * from "./money";
export { Account, Entry } from "./account";
export { default as start } from "./main";
