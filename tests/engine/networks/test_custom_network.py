"""Networks of a person's own: what can be brought, and what is amiss in one sentence."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from ensemble import architectures
from ensemble.config import EnsembleConfig
from ensemble.engine import build_network
from ensemble.engine.networks.custom.custom_factory import build_factory_arguments
from ensemble.engine.networks.custom.network_advice import list_network_advice, list_network_notes
from ensemble.engine.networks.network import join_tree_path
from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError
from tests.engine.networks import modules

SHAPE = (8, 8, 2)


def name(factory: str) -> str:
    return f"{modules.__name__}:{factory}"


@pytest.fixture
def allow(monkeypatch):
    def allowed(*names):
        monkeypatch.setenv(architectures.NETWORKS_VARIABLE, ",".join(names))

    return allowed


@pytest.mark.parametrize(
    ("factory", "collections", "random", "loops", "features"),
    [
        ("Careful", ("batch_stats",), True, True, 64),
        ("Plain", (), False, True, 8),
        ("ready", (), False, True, 8),
        ("small_resnet", ("batch_stats",), False, True, 16),
        ("Pooled", (), False, True, 4),
        ("Transposed", (), False, False, 4),
        ("Slashed", ("batch_stats",), False, True, 8),
        ("Narrow", (), False, True, 128),
        ("Titled", (), False, True, 8),
        ("Bridged", ("batch_stats",), True, True, 4),
        ("bridged_by_hand", ("batch_stats",), True, True, 4),
        ("BridgedPlain", (), False, True, 4),
        ("bridged_partly", (), False, True, 4),
        ("Handed", (), True, True, 4),
        ("handed", (), True, True, 4),
        ("TrainIsAField", ("batch_stats",), True, True, 128),
        ("ShortAndTrain", (), True, True, 128),
        ("SettingsNeeded", (), False, True, 6),
        ("SettingsGiven", (), False, True, 9),
        ("BridgedSettings", (), False, True, 4),
        ("settings_by_default", (), False, True, 5),
        ("SeededItself", (), False, True, 4),
    ],
)
def test_any_linen_module_can_be_brought(factory, collections, random, loops, features, allow):
    allow("other.module:Thing", name(factory))
    network = bind_network(name(factory), SHAPE, 4)
    assert (network.collections, network.is_stochastic, network.is_fast_in_loops) == (collections, random, loops)
    assert network.is_custom
    seen = jax.eval_shape(network.compute_features, network_shapes(network), images(3))
    assert [one.shape for one in seen] == [(3, 4), (3, features)]


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("Wide", "gives (2, 5) for 2 images of 4 classes: it has to give logits (2, 4)."),
        (
            "Growing",
            "carries something whose shape or type changes during a step: its collections "
            "have to keep their shapes and types.",
        ),
        ("Words", "carries notes/word, which is not a named array: keep only arrays in its collections."),
        ("Keys", "carries a random key in keys/own, which cannot be stored: draw it with make_rng instead."),
        ("Mean", "has no parameters: there is nothing to learn."),
        ("Failing", "does not take images (8, 8, 2): RuntimeError: no such luck (modules.py, "),
        ("choosy", "needs depth: give every argument except the number of classes (classes) a default."),
        ("nothing", "returns str: it has to return a flax.linen.Module, or be the class of a "),
        ("number", "is neither a Flax module nor a function that returns one."),
        ("Missing", "cannot be imported: AttributeError: module"),
        ("Hidden", "needs hidden: give every argument except the number of classes (num_classes) a default."),
        ("Unnamed", "needs size, and none of its arguments is called num_classes: "),
        ("Named", "gives a dict with logits: its __call__ has to return the logits alone"),
        ("Pair", "gives a tuple of 2 things: its __call__ has to return the logits alone"),
        ("Decided", "gives numbers of type int32: it has to give logits"),
        ("Synced", "uses the axis “devices”, as axis_name of BatchNorm or a pmean does"),
        ("Moded", "needs mode, which it is not given: only images are, and train, training, "),
        ("AlwaysDropping", "draws random numbers where nothing may be drawn, while it is judged"),
        ("Twice", "has two arrays at a/bias, one by a name with “/” in it: rename a layer."),
        (
            "Unhanded",
            "Make it with its random numbers, nnx.Dropout(rate, rngs=rngs), or let __call__(self, x, rngs=None)",
        ),
        ("Keyed", "needs key, which it is not given: only images are, and train, training, is_training, "),
        ("Hiding", "Hiding has an attribute train, which hides the method train() of nnx.Module"),
        (
            "InFeatures",
            "def net(num_classes, rngs): return InFeatures(num_classes=num_classes, in_features=…, key=rngs()",
        ),
        ("Features", "Or name a function: def net(num_classes): return Features(features=…)."),
        ("SettingsRefused", "SettingsRefused cannot be created: ValueError: at least 5 classes (modules.py, line"),
        ("AlwaysNormed", "take an argument train, and call BatchNorm(use_running_average=not train), so"),
        ("UntoldDropout", "take an argument train, and call Dropout(rate, deterministic=not train)."),
        ("drawn_already", "is an NNX module whose parameters are drawn already, so that all "),
    ],
)
def test_what_is_amiss_is_said_in_one_sentence(factory, said, allow):
    allow(name(factory))
    with pytest.raises(ConfigError) as refused:
        bind_network(name(factory), SHAPE, 4)
    assert name(factory) in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


def test_bfloat16_needs_a_field_to_be_told_by(allow):
    from ensemble.engine import Trainer
    from tests.engine.networks.test_learning import small_config

    allow(name("Plain"))
    config = small_config(network=name("Plain"), precision="bfloat16", batch_size=4)
    data = Four()
    with pytest.raises(ConfigError, match=r"has no field dtype .* or choose float32"):
        Trainer(config, data, jax.devices()[:1]).start()


class Four:
    """Eight images of four classes."""

    train_images = test_images = np.zeros((8, *SHAPE), np.uint8)
    train_labels = test_labels = np.arange(8, dtype=np.int32) % 4
    train_groups = None
    class_names = tuple("abcd")


def test_code_runs_only_where_it_is_allowed_and_a_name_alone_imports_nothing(allow, monkeypatch, tmp_path):
    (tmp_path / "leaves_net.py").write_text(
        "import pathlib\n\npathlib.Path('ran').touch()\nfrom tests.engine.networks.modules import Plain\n"
    )
    monkeypatch.chdir(tmp_path)
    own = "leaves_net:Plain"
    with pytest.raises(ConfigError, match="is custom code and is not allowed here"):
        EnsembleConfig(network=own)
    config = EnsembleConfig.from_disk({**EnsembleConfig().as_dict(), "network": own})
    assert config.network == own
    with pytest.raises(ConfigError, match="is custom code and is not allowed here"):
        build_network(config, SHAPE, 4)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "ensemble.toml").write_text(f'networks = ["{own}"]\n')
    assert architectures.list_network_names() == (*architectures.BUILTIN_NETWORK_NAMES, own)
    assert EnsembleConfig(network=own) == config
    assert build_network(config, SHAPE, 4).parameters == 128 * 8 + 8 + 8 * 4 + 4
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "text",
    ["networks = 3", 'networks = ["os.system"]', "networks = [", "\xff", "a = " + "[" * 5000],
    ids=["a number", "no factory", "cut", "not UTF-8", "nested"],
)
def test_a_file_of_another_form_is_said_and_settings_go_on(text, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ensemble.toml").write_bytes(text.encode("latin-1"))
    assert architectures.list_network_names() == architectures.BUILTIN_NETWORK_NAMES
    with pytest.raises(ConfigError, match=r"ensemble\.toml"):
        architectures.list_allowed_networks()


@pytest.mark.parametrize("given", ["os:", ":system", "os", "a b:c", "os.:x", "../x:y", "a:b:c", "1a:b", "a:b\n"])
def test_other_names_are_no_networks(given):
    assert not architectures.is_custom_network(given)


def test_parameters_are_told_apart_by_the_network_and_not_by_the_slashes_in_their_names(allow):
    allow(name("Slashed"))
    network = bind_network(name("Slashed"), SHAPE, 4)
    params = network.init(jax.random.key(0))
    assert "Dense_0/kernel/scale" in params["WeightNorm_0"]
    leaves = jax.tree_util.tree_leaves_with_path(params)
    arrays = {join_tree_path(path): leaf for path, leaf in leaves}
    assert set(arrays) == set(network.shapes)
    again = network.nest_arrays(arrays)
    assert jax.tree.structure(again) == jax.tree.structure(params)
    jax.tree.map(np.testing.assert_array_equal, again, params)


def test_narrow_parameters_are_kept_in_float32_with_the_values_that_were_drawn(allow):
    allow(name("Narrow"))
    network = bind_network(name("Narrow"), SHAPE, 4)
    key = jax.random.key(3)
    kernel = network.init(key)["Dense_0"]["kernel"]
    drawn = network.init_variables(key)["params"]["Dense_0"]["kernel"]
    assert (kernel.dtype, drawn.dtype) == (jnp.float32, jnp.bfloat16)
    np.testing.assert_array_equal(kernel, np.asarray(drawn, np.float32))


def test_an_nnx_module_is_trained_and_judged_as_flax_does_it_itself(allow):
    allow(name("Bridged"))
    network = bind_network(name("Bridged"), SHAPE, 4)
    params = network.init(jax.random.key(0))
    x = jax.random.uniform(jax.random.key(1), (6, *SHAPE))
    trained, rest = network.split_params(params)
    own = modules.Bridged(4, rngs=nnx.Rngs(0))
    for place, layer in enumerate((*own.layers, own.out)):
        given = params["layers"][str(place)] if place < 2 else params["out"]
        layer.kernel[...], layer.bias[...] = given["kernel"], given["bias"]
    own.eval()
    np.testing.assert_allclose(network.apply(params, x), own(x), atol=1e-6)
    own.train()
    own(x)
    first, after = network.apply_in_training(trained, rest, x, jax.random.key(2))
    second, _ = network.apply_in_training(trained, rest, x, jax.random.key(5))
    assert not np.allclose(first, second)  # dropout has another key
    mean = after["batch_stats"]["norm"]["mean"]
    np.testing.assert_allclose(mean, own.norm.mean[...], atol=1e-6)
    assert np.any(mean)


def test_the_cnn_of_flax_s_tutorial_drops_out_and_normalizes_as_flax_does_it(allow):
    allow(name("Tutorial"))
    network = bind_network(name("Tutorial"), (28, 28, 1), 10)
    assert (network.parameters, network.is_stochastic) == (824_650, True)
    trained, rest = network.split_params(network.init(jax.random.key(0)))
    x = jax.random.uniform(jax.random.key(1), (6, 28, 28, 1))
    own = modules.Tutorial(rngs=nnx.Rngs(0))
    nnx.update(
        own, nnx.State({**trained, **{k: {**trained[k], **rest["batch_stats"][k]} for k in rest["batch_stats"]}})
    )
    judged = nnx.view(own, deterministic=True, use_running_average=True)
    np.testing.assert_allclose(network.apply({**trained, **rest}, x), judged(x), atol=1e-5)
    logits, after = network.apply_in_training(trained, rest, x, jax.random.key(2))
    again, _ = network.apply_in_training(trained, rest, x, jax.random.key(2))
    other, _ = network.apply_in_training(trained, rest, x, jax.random.key(3))
    np.testing.assert_array_equal(logits, again)
    assert not np.allclose(logits, other)
    assert np.any(after["batch_stats"]["batch_norm1"]["mean"])


def test_a_field_or_an_argument_of_its_own_tells_a_module_which_pass_it_is(allow):
    allow(name("TrainIsAField"), name("Handed"))
    x = jax.random.uniform(jax.random.key(1), (6, *SHAPE))
    network = bind_network(name("TrainIsAField"), SHAPE, 4)
    trained, rest = network.split_params(network.init(jax.random.key(0)))
    _, after = network.apply_in_training(trained, rest, x, jax.random.key(2))
    mean = after["batch_stats"]["BatchNorm_0"]["mean"]
    np.testing.assert_allclose(mean, x.reshape(6, -1).mean(0) / 2, rtol=1e-5)
    np.testing.assert_array_equal(network.apply({**trained, **after}, x), network.apply({**trained, **after}, x))
    assert list_network_notes(network) == ("Its field train is set for each pass, training or evaluation.",)
    network = bind_network(name("Handed"), SHAPE, 4)
    params = network.init(jax.random.key(0))
    plain = x.reshape(6, -1) @ params["out"]["kernel"] + params["out"]["bias"]
    np.testing.assert_allclose(network.apply(params, x), 2 * plain, atol=1e-5)
    first, second = (network.apply_in_training(params, {}, x, jax.random.key(seed))[0] for seed in range(2))
    assert not np.allclose(first, second)


def test_a_word_that_nobody_says_and_that_may_be_the_pass_is_noted(allow):
    allow(name("ModeByAnotherName"), name("Careful"))
    (note,) = list_network_notes(bind_network(name("ModeByAnotherName"), SHAPE, 4))
    assert note.startswith("Its __call__ takes learning_now, which keeps its default in training and evaluation")
    assert list_network_notes(bind_network(name("Careful"), SHAPE, 4)) == ()


def test_members_that_all_start_from_the_same_parameters_are_said(allow):
    allow(name("SeededItself"))
    advice = list_network_advice(bind_network(name("SeededItself"), SHAPE, 4))
    assert [each[:44] for each in advice] == ["It draws its parameters from a seed of its o"]


@pytest.mark.parametrize(("package", "title"), [("torch", "PyTorch"), ("equinox", "Equinox"), ("keras", "Keras")])
def test_a_module_of_another_library_is_told_that_flax_is_needed(package, title, allow, monkeypatch, tmp_path):
    """Installed, of which a base class and a function that calls it are enough, or not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"of_{package}.py").write_text(f"import {package}\nclass Net: pass\n")
    allow(f"of_{package}:Net", f"with_{package}:Net", f"with_{package}:net", f"with_{package}:forward")
    if importlib.util.find_spec(package) is None:
        with pytest.raises(ConfigError, match=f"its file needs {title}, which is not installed, and a Flax module is"):
            bind_network(f"of_{package}:Net", SHAPE, 4)
    (tmp_path / f"with_{package}.py").write_text(
        f"""import types
{package} = types.ModuleType("{package}.nn")
Base = type("Module", (), {{"__module__": "{package}.nn.modules"}})
class Net(Base):
    def __init__(self, key=None): pass
def net(num_classes): return Net()
def forward(x): return {package}.Dense(10)(x)
"""
    )
    for factory in ("Net", "net", "forward"):
        with pytest.raises(ConfigError, match=f":{factory} is a network in {title}, and a Flax module is needed"):
            bind_network(f"with_{package}:{factory}", SHAPE, 4)


@pytest.mark.parametrize("text", ["modules.Plain", "modules/plain.py", "a\\\\b:C", "modules:", "modules.py"])
def test_a_name_of_another_form_is_told_the_right_one(text):
    with pytest.raises(ConfigError, match=r"is called package.module:Factory, such as my_net"):
        EnsembleConfig(network=text)


def test_a_file_s_name_in_place_of_a_module_s_is_told_the_right_one(allow):
    allow("nowhere.py:Net")
    with pytest.raises(ConfigError, match=r"No module named 'nowhere'. Leave .py out: nowhere:Net"):
        bind_network("nowhere.py:Net", SHAPE, 4)


def network_shapes(network):
    return jax.eval_shape(network.init, jax.random.key(0))


def images(count):
    return jax.ShapeDtypeStruct((count, *SHAPE), jnp.float32)


@pytest.mark.long
def test_trained_from_the_command_line_stopped_by_its_first_nan(monkeypatch, tmp_path):
    from click.testing import CliRunner

    from ensemble.cli.train import run_train_command

    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path))
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, "")
    said = CliRunner().invoke(run_train_command, ["--network", name("Poisoned"), "--members", "2", "--epochs", "1"])
    assert "Member 1's very first loss is not a number" in said.output + said.stderr
    assert '"state": "diverged"' in said.stdout
    assert "Traceback" not in said.output + said.stderr


def test_a_sole_argument_as_short_as_earlier_versions_took_it_is_the_number_of_classes() -> None:
    def build_short(n, k=3):
        """Only the argument without a default is meant, whatever the others are called."""

    assert build_factory_arguments("short", build_short, 7) == {"n": 7}
    assert build_factory_arguments("kernels", lambda k=3: k, 7) == {}
