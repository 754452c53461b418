"""Names that one project imports of another in languages where the index of neither records what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from atlas.code.across.exports import MAX_FILES

from .test_workspaces import User, user

__all__ = ["user"]

POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>{name}</artifactId>"
    "<version>1.0</version>{more}</project>"
)
OF_CORE = (
    "<dependencies><dependency><groupId>com.acme</groupId><artifactId>core</artifactId><version>1.0</version>"
    "</dependency></dependencies>"
)
JAVA = (
    {
        "pom.xml": POM.format(name="core", more=""),
        "src/main/java/com/acme/core/Reader.java": (
            "package com.acme.core;\n\npublic class Reader {\n    public int next() { return 1; }\n"
            "    public static Reader open() { return new Reader(); }\n    int hidden() { return 2; }\n}\n"
        ),
        "src/main/java/com/acme/core/Base.java": (
            "package com.acme.core;\n\npublic abstract class Base {\n    protected void close() { }\n}\n"
        ),
    },
    {
        "pom.xml": POM.format(name="xml", more=OF_CORE),
        "src/main/java/com/acme/xml/XmlReader.java": (
            "package com.acme.xml;\n\nimport com.acme.core.*;\n\npublic class XmlReader extends Base {\n"
            "    public int both(Reader one) {\n        close();\n        return one.next() + Reader.open().next();\n"
            "    }\n    int next() { return 0; }\n    int own() { return next(); }\n}\n"
        ),
    },
)
CSHARP = (
    {
        "src/Acme.Log/Acme.Log.csproj": '<Project Sdk="Microsoft.NET.Sdk"></Project>\n',
        "src/Acme.Log/Logger.cs": (
            "namespace Acme.Log;\n\npublic class Logger\n{\n    public void Write(string text) { }\n"
            "    public Logger Nested() { return this; }\n}\n"
        ),
    },
    {
        "App/App.csproj": (
            '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="acme.log" Version="1.0" />'
            "</ItemGroup></Project>\n"
        ),
        "App/Program.cs": (
            "using Acme.Log;\n\nnamespace Acme;\n\nclass Program\n{\n    void Run(Logger log)\n    {\n"
            '        log.Nested().Write("a");\n    }\n}\n'
        ),
    },
)
RUBY = (
    {
        "queue.gemspec": 'Gem::Specification.new do |spec|\n  spec.name = "queue"\n  spec.version = "1.0"\nend\n',
        "lib/queue.rb": (
            "require 'queue/worker'\n\nmodule Queue\n  def self.push(job)\n    Worker.new.work(job)\n  end\nend\n"
        ),
        "lib/queue/worker.rb": "module Queue\n  class Worker\n    def work(job)\n      job\n    end\n  end\nend\n",
        "lib/queue/failure/redis.rb": "module Queue\n  class Redis\n  end\nend\n",
    },
    {
        "Gemfile": 'source "https://rubygems.org"\ngem "queue"\ngem "redis"\n',
        "app.rb": (
            "require 'queue'\nrequire 'redis'\n\nclass App\n  def run(job)\n    Queue.push(job)\n"
            "    Queue::Worker.new.work(job)\n  end\nend\n"
        ),
    },
)
NPM = (
    {
        "package.json": (
            '{"name": "@acme/kit", "version": "2.1.0", "types": "./dist/kit.d.ts", "exports": {".": {"import": '
            '"./dist/kit.mjs", "types": "./dist/kit.d.ts"}, "./deep": "./dist/deep/index.js"}}'
        ),
        "src/kit.ts": (
            'export { inner as outer } from "./inner";\nexport * from "./types";\nconst kit = () => 1;\n'
            "export default kit;\n"
        ),
        "src/inner.ts": "export function inner(a: number): number;\nexport function inner(a: unknown) { return a; }\n",
        "src/types.ts": "export interface Options { size: number }\n",
        "src/deep/index.ts": "export const below = () => 2;\n",
        "src/other.ts": "export function outer() { return 3; }\nexport const below = 4;\n",
    },
    {
        "package.json": '{"name": "app", "version": "1.0.0", "dependencies": {"@acme/kit": "^2.0.0"}}',
        "app.ts": (
            'import make, { outer, Options } from "@acme/kit";\nimport { below } from "@acme/kit/deep";\n\n'
            "export function run(options: Options) {\n  make();\n  outer(1);\n  return below();\n}\n"
        ),
    },
)


def asked(user: User, both: tuple[Mapping[str, str], Mapping[str, str]]) -> Path:
    """The library's folder, in a workspace with the project that uses it."""
    library, application = user.project("library", both[0]), user.project("application", both[1])
    user.done("workspace", "add", str(library), str(application))
    return library


@pytest.mark.parametrize(
    ("both", "question", "told"),
    [
        (JAVA, "callers of Reader.next", "callers 1: src/main/java/com/acme/xml/XmlReader.java:8"),
        (JAVA, "callers of Reader.open", "callers 1: src/main/java/com/acme/xml/XmlReader.java:8"),
        (JAVA, "callers of Base.close", "callers 1: src/main/java/com/acme/xml/XmlReader.java:7"),
        (JAVA, "subclasses of Base", "subclasses 1: src/main/java/com/acme/xml/XmlReader.java:5"),
        (CSHARP, "callers of Logger.Write", "callers 1: App/Program.cs:9 Acme.Program.Run"),
        (RUBY, "callers of Queue.push", "callers 1: app.rb:6 App.run"),
        (RUBY, "callers of Worker.work", "callers 1: app.rb:7 App.run"),
        (RUBY, "who imports lib/queue/failure/redis.rb", "no importers known"),
        (NPM, "callers of kit", "callers 1: app.ts:5 run"),
        (NPM, "callers of inner", "callers 1: app.ts:6 run"),
        (NPM, "usages of Options", "usages 2: app.ts:1 module (imports"),
        (NPM, "callers of src.deep.below", "callers 1: app.ts:7 run"),
        (NPM, "callers of src.other.outer", "no callers known"),
    ],
)
def test_uses_of_a_library_by_what_its_names_mean(
    user: User, both: tuple[Mapping[str, str], Mapping[str, str]], question: str, told: str
) -> None:
    answer = user.ask(asked(user, both), "search", question)
    assert told in answer, answer
    assert "in project application (" in answer


def test_a_default_import_has_its_definition_in_the_other_project(user: User) -> None:
    library = asked(user, NPM)
    answer = user.ask(library.parent / "application", "context", "@acme/kit.default")
    assert "is function src.kit.kit src/kit.ts:3 in project library" in answer, answer


def test_topics_meet_across_projects(user: User) -> None:
    emits = (
        "from kafka import KafkaProducer\n\nproducer = KafkaProducer()\n\n\ndef place(order):\n"
        '    producer.send("orders.placed", order)\n'
    )
    handles = 'from kafka import KafkaConsumer\n\nconsumer = KafkaConsumer("orders.placed")\n'
    orders, bills = user.project("orders", {"app.py": emits}), user.project("bills", {"app.py": handles})
    user.done("workspace", "add", str(orders), str(bills))
    said = "event:message:orders.placed is handled in project bills by module app.py:3 (equal name 0.64)"
    assert said in user.ask(orders, "search", "who handles orders.placed")
    assert said in user.ask(orders, "search", "callees of place")
    assert "is emitted in project orders by place app.py:7" in user.ask(bills, "search", "who emits orders.placed")


def test_projects_that_depend_on_each_other_are_in_answers_about_dependencies(user: User) -> None:
    library = asked(user, JAVA)
    assert "depends on project library: com.acme:core 1.0, declared 1.0 (pom.xml:1" in user.ask(
        library.parent / "application", "search", "what are the dependencies"
    )


def test_an_answer_says_that_a_large_package_is_not_linked(user: User) -> None:
    many = {f"src/more/part{number}.ts": f"export const part{number} = {number};\n" for number in range(MAX_FILES)}
    library = asked(user, ({**NPM[0], **many}, NPM[1]))
    told = "files are too many to be linked"
    answer = user.ask(library, "search", "callers of inner")
    assert "in project application (" in answer and told in answer, answer
    answer = user.ask(library.parent / "application", "context", "@acme/kit.default")
    assert "@acme/kit.default may be of project library" in answer and told in answer, answer
