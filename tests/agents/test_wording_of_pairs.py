"""Pairs are written with the prompt that a session asks a model with.

Internals: the form of a prompt is made from a tokenizer alone, without the weights of a model.
"""

from __future__ import annotations

from peirce.agents.local.chat import ChatFormat
from peirce.training.pairs import ModelText
from tiny_model import make_model, require

require()


def test_a_template_without_a_system_role_gets_the_prompt_that_a_session_asks(tmp_path):
    from transformers import AutoTokenizer

    template = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
        "{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    base = make_model(tmp_path / "gemma", template)
    asked = [{"role": "system", "content": "be short"}, {"role": "user", "content": "a"}]
    said = ModelText(base).render_prompt(asked)
    session = ChatFormat("gemma", AutoTokenizer.from_pretrained(base), None, {}, tools=False)
    assert (
        said == session.render_prompt(asked) and "be short" in said and said.endswith("<assistant>")
    )
