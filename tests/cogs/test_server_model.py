"""/settings model: another of the models that the operator allows answers, from the next question on."""

from typing import Any

import pytest

from bot.providers.extractive.client import ExtractiveChat
from tests.cogs.stage import Stage, text_of


@pytest.fixture
def settings() -> dict[str, Any]:
    """The default is the scripted model; the other is the built-in answerer."""
    return {"llm_models": ("quotes",), "llm_provider": "extractive"}


async def models(stage: Stage, conversation_id: str) -> list[str]:
    return [turn.model for turn in await stage.app.storage.turns.get_by_conversation(conversation_id)]


async def test_the_model_that_was_chosen_answers_from_the_next_question_on(stage: Stage) -> None:
    manager = stage.member("max", manage_guild=True)
    thread = await stage.chat(await stage.book())
    conversation = await stage.conversation(thread)
    await stage.ann.send(thread, "Who is Marta?")
    offered = await manager.autocomplete(stage.channel, "settings model", "name", "")
    assert [choice["value"] for choice in offered] == ["scripted-1", "quotes"]
    assert "`quotes`" in text_of(await manager.slash(stage.channel, "settings model", name="quotes"))
    await stage.ann.send(thread, "And who put the lamp out?")
    assert await models(stage, conversation.id) == ["scripted-1", "extractive-1"]
    await manager.slash(stage.channel, "settings model", name="scripted-1")
    await stage.ann.send(thread, "And then?")
    assert (await models(stage, conversation.id))[-1] == "scripted-1"


class TestBuiltIn:
    @pytest.fixture
    def model(self) -> ExtractiveChat:
        return ExtractiveChat()

    async def test_the_built_in_answerer_is_called_so_and_can_be_chosen_by_it(self, stage: Stage) -> None:
        manager = stage.member("max", manage_guild=True)
        [offered, _] = await manager.autocomplete(stage.channel, "settings model", "name", "")
        assert (offered["name"], offered["value"]) == ("the built-in answerer", "extractive-1")
        refused = text_of(await manager.slash(stage.channel, "settings model", name="enormous"))
        assert refused.endswith("You can choose: the built-in answerer and `quotes`.")
        assert "extractive-1" not in text_of(await manager.slash(stage.channel, "settings model", name="quotes"))
        shown = text_of(await manager.slash(stage.channel, "settings model", name="The built-in answerer"))
        assert "the built-in answerer" in shown
