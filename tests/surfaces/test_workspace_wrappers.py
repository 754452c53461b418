"""Calls by URL through functions of the front end: whose routes they are in the project of the back end."""

from __future__ import annotations

import pytest

from atlas.code.across.wrapped import MAX_FILES

from .test_workspaces import User, user

__all__ = ["user"]

BACK = {
    "package.json": '{"name": "back", "version": "1.0.0"}',
    "server.js": (
        'const express = require("express");\nconst app = express();\n'
        'app.get("/api/articles/:slug", show);\napp.get("/api/articles/:slug/comments", comments);\n'
        'app.post("/api/users", create);\napp.get("/api/tags", tags);\napp.delete("/api/users/:id", remove);\n'
        'app.get("/api/gists/:id", gist);\n'
    ),
}
PACKAGE = '{"name": "front", "version": "1.0.0"}'
OBJECT = """import superagent from 'superagent';

const ROOT = 'https://api.acme.dev/api';
const requests = {
  get: url => superagent.get(`${ROOT}${url}`).then(one => one.body),
  post: (url, body) => superagent.post(`${ROOT}${url}`, body).then(one => one.body),
};
export const tags = () => requests.get('/tags');
export const article = slug => requests.get(`/articles/${slug}`);
export const register = user => requests.post('/users', user);
"""
CLASS = """import axios from 'axios';

export class Http {
  load(resource: string, rest = '') {
    return new Promise(resolve => axios.get(`${resource}/${rest}`).then(resolve));
  }
  send(method: string, path: string) {
    return fetch(`/api/${path}`, { method });
  }
}
const http = new Http();
export function comments(slug: string) { return http.load('articles', `${slug}/comments`); }
export function all() { return http.load('tags'); }
export function drop(id: string) { return http.send('DELETE', `users/${id}`); }
"""
OUTER = """import axios from 'axios';

function call(path) { return axios.get('/api' + path); }
function cached(path) { return call(path); }
export function tags() { return cached('/tags'); }
export function one(slug) { return cached(`/articles/${slug}`); }
export function gist(id) { return one('/tags'); }
"""
GENERATED = """class Base {
  constructor(baseUrl) { this.baseUrl = baseUrl; }
  run = (...all) => fetch(...all);
  request = ({ path, method, body }) => this.run(`${this.baseUrl}${path}`, { method, body });
}
class Cache {
  request({ path }) { return new Map().get(path); }
}
export class Api extends Base {
  register = user => this.request({ path: `/users`, method: "POST", body: user });
}
const kept = new Cache();
export function known() { return kept.request({ path: '/tags', method: "GET" }); }
"""
ELSEWHERE = """import axios from 'axios';

const load = path => axios.get(`https://api.github.com/api${path}`);
export const gist = id => load(`/gists/${id}`);
export const stars = () => load('/stars');
export const repos = () => load('/repos');
"""


@pytest.mark.parametrize(
    ("path", "text", "question", "told"),
    [
        ("agent.js", OBJECT, "who calls GET /api/tags", "calls of GET /api/tags 1: agent.js:8 "),
        ("agent.js", OBJECT, "who calls GET /api/articles/:slug", "1: agent.js:9 "),
        ("agent.js", OBJECT, "who calls POST /api/users", "1: agent.js:10 "),
        ("http.ts", CLASS, "who calls GET /api/articles/:slug/comments", "1: http.ts:12 comments (route-end 0.65)"),
        ("http.ts", CLASS, "who calls GET /api/tags", "1: http.ts:13 all (route-end 0.65)"),
        ("http.ts", CLASS, "who calls DELETE /api/users/:id", "1: http.ts:14 drop"),
        ("outer.js", OUTER, "who calls GET /api/tags", "1: outer.js:5 tags (route-path 0.85)"),
        ("outer.js", OUTER, "who calls GET /api/articles/:slug", "1: outer.js:6 one (route-path 0.85)"),
        ("api.js", GENERATED, "who calls POST /api/users", "1: api.js:10 "),
    ],
)
def test_calls_through_functions_of_the_client(user: User, path: str, text: str, question: str, told: str) -> None:
    back = user.project("back", BACK)
    front = user.project("front", {"package.json": PACKAGE, path: text})
    user.done("workspace", "add", str(back), str(front))
    answer = user.ask(back, "search", question)
    assert "in project front: calls of" in answer, answer
    assert told in answer, answer


def test_another_server_of_the_internet_is_not_the_project(user: User) -> None:
    back = user.project("back", BACK)
    front = user.project("front", {"package.json": PACKAGE, "gists.js": ELSEWHERE})
    user.done("workspace", "add", str(back), str(front))
    assert "in project front" not in user.ask(back, "search", "who calls GET /api/gists/:id")


def test_a_function_that_calls_no_client_has_no_route(user: User) -> None:
    back = user.project("back", BACK)
    front = user.project("front", {"package.json": PACKAGE, "api.js": GENERATED})
    user.done("workspace", "add", str(back), str(front))
    assert "in project front" not in user.ask(back, "search", "who calls GET /api/tags")


def test_an_answer_says_where_calls_through_functions_are_not_looked_for(user: User) -> None:
    back = user.project("back", BACK)
    many = {f"parts/part{number}.js": f"export const part{number} = {number};\n" for number in range(MAX_FILES)}
    front = user.project("front", {"package.json": PACKAGE, "agent.js": OBJECT, **many})
    user.done("workspace", "add", str(back), str(front))
    told = f"calls through functions are not looked for: {MAX_FILES + 1:,} files may call by URL"
    answer = user.ask(back, "search", "who calls GET /api/tags")
    assert "calls of GET /api/tags 1:" not in answer
    assert f"in project front: more calls are possible, {told}" in answer
    assert f"calls of routes of other projects may be missing, {told}" in user.ask(front, "search", "callees of tags")
