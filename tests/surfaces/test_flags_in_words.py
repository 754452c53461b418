"""Settings that a question tells in words, with all the ways to give them."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_FLAGS = """package shop

func Flags(config *Config) {
	flags.IntVarP(&Concurrency, "concurrency", "C", fromConfig(config, "CONCURRENCY", 0), "Limit the orders that run.")
	flags.BoolVar(&Silent, "silent", false, "Print nothing.")
}
"""
_CONFIG = """package shop

type Config struct {
	Concurrency *int `yaml:"concurrency"`
	Silent *bool `yaml:"silent"`
}
"""
_PAGE = """# Flags

## `--concurrency`

Limits how many orders run.

- Default: `0`, which is no limit
- Variable: `SHOP_CONCURRENCY`

## `--silent`

Prints nothing.
"""


async def test_a_setting_in_words_with_its_variable_key_and_default(tmp_path: Path) -> None:
    files = {"flags.go": _FLAGS, "config.go": _CONFIG, "docs/flags.md": _PAGE, "go.mod": "module example.org/shop\n"}
    for name, text in files.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        asked = "limit how many orders run at the same time: flag, env var, config key and the default value please"
        said = (await hybrid_search(atlas, asked)).render()
        assert "flag whose name and help have the words: 1" in said and "flags.go:4: --concurrency" in said
        assert "docs/flags.md:8: - Variable: `SHOP_CONCURRENCY`" in said
        assert "config.go:4: Concurrency *int" in said and "docs/flags.md:7: - Default: `0`" in said
        said = (await hybrid_search(atlas, "which flag limits the orders that run in parallel")).render()
        assert "--concurrency" in said and "variable:" not in said, "only the flag is asked for"
        said = (await hybrid_search(atlas, "where are orders stored at night: table, key and default")).render()
        assert "flag whose name" not in said and "flags whose name" not in said


_CLI = """export class UpAction extends Action {
  define(action) {
    this.to = action.defineString({
      parameterLongName: '--to',
      description: 'All migrations up to this one should be run.',
    })
    this.step = action.defineInteger({ parameterLongName: '--step', description: 'How many to run.' })
  }
}

export class CreateAction extends Action {
  define(action) {
    this.verify = action.defineFlag({ parameterLongName: '--skip-verify', description: 'Do not check the file.' })
  }
}
"""


async def test_no_flag_has_the_word_by_which_one_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "shop/src").mkdir(parents=True)
    (tmp_path / "shop/src/cli.ts").write_text(_CLI)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        said = (await hybrid_search(atlas, "Which flag makes `up` do a dry run?")).render()
        expected = "no flag that is known has `dry` in its name or help; flags of `up`: "
        assert said.split("\n")[1] == f"{expected}--to src/cli.ts:4, --step src/cli.ts:7", said
        said = (await hybrid_search(atlas, "is there a flag for encrypted files?")).render()
        assert "no flag that is known has `encrypted` in its name or help; flags that are declared: --to" in said
        assert "--skip-verify src/cli.ts:13" in said
        said = (await hybrid_search(atlas, "which flag skips the verify check?")).render()
        assert "no flag that is known" not in said and "--skip-verify" in said


_COMMAND = """class Command(BaseCommand):
    def add_arguments(self, parser):
        parser.add_argument(
            "--ledger",
            help="Ledger that the command writes to.",
        )
"""


async def test_every_command_with_a_flag_also_in_folders_of_applications(tmp_path: Path) -> None:
    tree = tmp_path / "shop"
    commands = [f"shop/contrib/orders/commands/order{at}.py" for at in range(4)]
    commands += [f"shop/core/commands/core{at}.py" for at in range(5)]
    files = {**dict.fromkeys(commands, _COMMAND), "scripts/run.sh": "python -m shop order1 --ledger main\n"}
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    await indexed(tree, tmp_path / "data")
    async with open_atlas(load_settings(str(tree), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "which management commands accept --ledger?")).render()
        assert "declared in 9 places" in said and "used in 1 place" in said
        assert all(name in said for name in commands)
        assert said.count('"--ledger"') == 3, "the help of one flag is much the same in each place"


async def test_flags_of_go_are_declared_where_they_are_bound_and_not_in_completions(tmp_path: Path) -> None:
    tree = tmp_path / "shop"
    bound = 'package shop\n\nfunc (o *{0}) AddFlags(f *pflag.FlagSet) {{\n\tf.BoolVarP(&o.DryRun, "dry-run", "n", false, "only say what is done")\n}}\n'
    files = {f"shop/{name.lower()}.go": bound.format(name) for name in ("Order", "Refund")}
    files["docs/bash-completion.sh"] = (
        '_shop_order() {\n    flags+=("--dry-run")\n}\n_shop_refund() {\n    flags+=("--dry-run")\n}\n'
    )
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    await indexed(tree, tmp_path / "data")
    async with open_atlas(load_settings(str(tree), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "which commands have the --dry-run flag")).render()
        declared = said.partition("declared:\n")[2].partition("\nused:")[0]
        assert "flag `--dry-run`: declared in 2 places, used in 2 places" in said, said
        assert "shop/order.go:4" in declared and "shop/refund.go:4" in declared and "completion" not in declared
