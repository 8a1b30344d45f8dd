"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    ContextProfile,
    DottedName,
    MemoryKind,
    MemoryScope,
    Name,
    Sentence,
)


class MemoryConfigLayer(TypedDict):
    """One layer."""

    enabled: bool
    """Whether it is used."""
    scope: NotRequired[MemoryScope]
    """How far a memory reaches."""
    max_tokens: NotRequired[int]
    """Its share of the context."""


class MemoryConfigLayers(TypedDict):
    """The five layers."""

    conversation: NotRequired[MemoryConfigLayer]
    """What was said."""
    knowledge: NotRequired[MemoryConfigLayer]
    """Documents and facts."""
    agent_state: NotRequired[MemoryConfigLayer]
    """Decisions and plans so far."""
    profile: NotRequired[MemoryConfigLayer]
    """What is known of people and projects."""
    tool_environment: NotRequired[MemoryConfigLayer]
    """What tools and surroundings offer."""


class MemoryConfigExtraction(TypedDict):
    """What becomes a memory."""

    enabled: bool
    """Whether memories are made without being asked for."""
    kinds: NotRequired[list[MemoryKind]]
    """Kinds that are made."""
    min_importance: NotRequired[float]
    """Less important things are not kept."""
    max_items_per_run: NotRequired[int]
    """Most per run."""
    by: NotRequired[Literal["rules", "model"]]
    """Who chooses: rules, or a model."""


class MemoryConfigDedup(TypedDict):
    """When two memories are one."""

    merge_similarity: NotRequired[float]
    """From here on they are merged, if numbers, names and negations agree."""
    link_similarity: NotRequired[float]
    """From here on they are linked."""


class MemoryConfigRetention(TypedDict):
    """How long one kind is kept."""

    kind: MemoryKind
    """Events, facts or ways of doing things."""
    scope: NotRequired[MemoryScope]
    """How far a memory reaches."""
    days: int | None
    """Days; null for ever."""


class MemoryConfigRanking(TypedDict):
    """How results are ordered."""

    lexical_weight: float
    """Weight of matching words."""
    semantic_weight: float
    """Weight of matching meaning."""
    recency_weight: NotRequired[float]
    """How far age moves the score."""
    half_life_days: NotRequired[float]
    """Age at which half of that is left."""
    importance_weight: NotRequired[float]
    """How far importance moves the score."""
    pin_first: NotRequired[bool]
    """Pinned items always come first."""


class MemoryConfigRetrieval(TypedDict):
    """How much is found."""

    ranking_profile: Name
    """How results are ordered."""
    k: int
    """Most results."""
    max_tokens: NotRequired[int]
    """Budget in the prompt."""
    scopes: NotRequired[list[MemoryScope]]
    """Where to look."""


class MemoryConfigEmbedding(TypedDict):
    """How meaning is computed."""

    provider: DottedName
    """Who computes it."""
    model: str
    """The provider's name of the model."""
    dimensions: int
    """Length of the vectors."""


class MemoryConfigChunking(TypedDict):
    """How documents are cut."""

    max_words: int
    """Longest piece."""
    overlap_words: NotRequired[int]
    """Words that two neighbours share."""


class MemoryConfig(TypedDict):
    """What is remembered, for how long, and how it is found again."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: Name
    """A name in the product: lower-case letters, digits and underscores."""
    description: NotRequired[Sentence]
    """What it is for."""
    layers: MemoryConfigLayers
    """The five layers."""
    extraction: NotRequired[MemoryConfigExtraction]
    """What becomes a memory."""
    dedup: NotRequired[MemoryConfigDedup]
    """When two memories are one."""
    retention: NotRequired[list[MemoryConfigRetention]]
    """How long each kind is kept; for ever when absent."""
    ranking: NotRequired[dict[str, MemoryConfigRanking]]
    """Ranking profiles by name."""
    retrieval: NotRequired[MemoryConfigRetrieval]
    """How much is found."""
    embedding: NotRequired[MemoryConfigEmbedding]
    """How meaning is computed."""
    chunking: NotRequired[MemoryConfigChunking]
    """How documents are cut."""
    profiles: NotRequired[dict[str, ContextProfile]]
    """Context profiles by name."""
