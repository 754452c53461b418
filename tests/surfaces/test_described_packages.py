"""Questions for packages that describe one in words, ask what for, or only name a part of the project called like one."""

from __future__ import annotations

from atlas.answers.evidence import LINES_HEADING
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop.gemspec": """Gem::Specification.new do |s|
  s.name = "shop"
  s.required_ruby_version = ">= 2.7.0"
  s.add_dependency("bcrypt", "~> 3.0")
  s.add_dependency("railties", ">= 7.0")
  s.add_development_dependency("rake", "~> 13.0")
end
""",
    "Gemfile": """source "https://rubygems.org"

gemspec

group :development do
  gem "rails", "~> 8.1.0"
end
""",
    "lib/shop/encryptor.rb": """require 'bcrypt'

module Shop
  module Encryptor
    # BCrypt::Password is slow on purpose
    def self.digest(password)
      ::BCrypt::Password.create(password).to_s
    end
  end
end
""",
    "src/Shop/Shop.csproj": """<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <PackageReference Include="Microsoft.Extensions.Options" Version="8.0.0" />
  </ItemGroup>
</Project>
""",
    "src/Tests/Tests.csproj": """<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <PackageReference Include="Microsoft.EntityFrameworkCore.SqlServer" Version="9.0.0" />
  </ItemGroup>
</Project>
""",
    "packages/nuxt/package.json": """{
  "name": "@shop/nuxt",
  "devDependencies": {
    "nuxt": "^3.13.2"
  }
}
""",
    "packages/nuxt/src/module.ts": """export function setup(options: { dirs?: string[] }) {
  // add auto imports of the stores
  if (!options.dirs) {
    options.dirs = ['stores']
  }
}
""",
}


async def test_words_that_describe_a_package(atlas: Atlas) -> None:
    asked = "EF core sql server package - which project, which version, does the main lib reference it"
    said = (await hybrid_search(atlas, asked)).render()
    assert "Microsoft.EntityFrameworkCore.SqlServer: declared by 1 project" in said
    said = said.partition(LINES_HEADING)[0]
    assert "src/Tests/Tests.csproj" in said and "9.0.0" in said and "Options" not in said
    said = (await hybrid_search(atlas, "which version of the extensions options package is used")).render()
    assert "Microsoft.Extensions.Options: declared 8.0.0" in said
    said = (await hybrid_search(atlas, "EF core postgres package - which version")).render()
    assert "SqlServer: declared" not in said, "one of the words is no part of its name"


async def test_what_a_package_is_for_and_where_it_is_required(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "bcrypt - what for, where required and which version allowed")).render()
    assert "bcrypt: declared ~> 3.0" in said and "lib/shop/encryptor.rb: :1 require 'bcrypt'" in said
    assert "lib/shop/encryptor.rb:7: ::BCrypt::Password.create(password).to_s" in said
    assert "on purpose" not in said, "a comment uses nothing"
    said = (await hybrid_search(atlas, "which version of bcrypt is allowed")).render()
    assert "encryptor" not in said, "it is not asked for"


async def test_what_is_needed_at_run_time_and_which_language(atlas: Atlas) -> None:
    asked = "What does the gem need at runtime: list of gem dependencies, minimal Ruby and Rails"
    said = (await hybrid_search(atlas, asked)).render()
    assert "Ruby: >= 2.7.0 (shop.gemspec); 4 declared dependencies" in said
    assert "shop.gemspec:4: bcrypt ~> 3.0" in said and "shop.gemspec:5: railties >= 7.0" in said
    assert "rake" not in said and "8.1.0" not in said, "those are for development"
    said = (await hybrid_search(atlas, "list of dependencies, required PHP version")).render()
    assert "PHP: no manifest or check names a version; " in said and "rake ~> 13.0" in said


async def test_what_a_part_does_that_is_called_like_a_package(atlas: Atlas) -> None:
    for asked in (
        "nuxt module: which folder gets scanned for stores to auto import when user configures nothing",
        "nuxt: what happens with imports if the user sets no dirs",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert "declared" not in said and "packages/nuxt/src/module.ts" in said, asked
    for asked in ("which folders import nuxt", "which version of nuxt is required when the user configures nothing"):
        assert "^3.13.2" in (await hybrid_search(atlas, asked)).render(), asked
