"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    Instant,
    RelativePath,
    Scope,
    Semver,
    Sentence,
    Sha256,
    Slug,
    Tags,
    Title,
    Url,
    VersionRange,
)


class MarketplacePackageFile(TypedDict):
    """One file."""

    path: RelativePath
    """Where it lies in the package."""
    sha256: Sha256
    """SHA-256 of the content, in lower-case hexadecimal digits."""
    size: int
    """Bytes."""
    executable: NotRequired[bool]
    """Whether it may be executed, in the sandbox."""


class MarketplacePackageContents(TypedDict):
    """What is in it, by kind."""

    tools: NotRequired[list[RelativePath]]
    """Tool manifests."""
    agents: NotRequired[list[RelativePath]]
    """Agent manifests."""
    workflows: NotRequired[list[RelativePath]]
    """Workflows."""
    pipelines: NotRequired[list[RelativePath]]
    """Pipelines."""
    policies: NotRequired[list[RelativePath]]
    """Policies that it proposes."""
    skills: NotRequired[list[RelativePath]]
    """Skills."""
    mcp: NotRequired[list[RelativePath]]
    """MCP servers."""
    nodes: NotRequired[list[RelativePath]]
    """ONEX nodes."""
    plugins: NotRequired[list[RelativePath]]
    """Plugins."""


class MarketplacePackageDependency(TypedDict):
    """One package that it needs."""

    name: str
    """Publisher and package."""
    version: VersionRange
    """Versions that are acceptable: `*`, `1.2.3`, `^1.2`, `~1.2.3` or `>=1.0.0 <2.0.0`."""


class MarketplacePackagePublisher(TypedDict):
    """Who publishes it."""

    name: Slug
    """A name in addresses: lower-case letters, digits and hyphens."""
    key_id: str
    """Key that signs it."""


class MarketplacePackageRequires(TypedDict):
    """What it needs of the platform."""

    omni: NotRequired[VersionRange]
    """Versions of Omni."""
    contracts: NotRequired[int]
    """Version of the contracts."""


class MarketplacePackage(TypedDict):
    """A package as it is published: immutable, hashed file by file, signed by its publisher."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: str
    """Publisher and package: `omni-labs/text-tools`."""
    version: Semver
    """A semantic version."""
    kind: Literal["tool_bundle", "mcp_wrapper", "workflow_pack", "agent_pack", "skill", "onex_node"]
    """What it brings."""
    tier: NotRequired[Literal["core", "verified", "community", "private"]]
    """How far it was checked."""
    title: Title
    """A few words for people, on one line."""
    description: Sentence
    """What it is for."""
    readme: NotRequired[RelativePath]
    """Longer explanation in the package."""
    license: str
    """SPDX expression."""
    publisher: MarketplacePackagePublisher
    """Who publishes it."""
    homepage: NotRequired[Url]
    """Where more is to be found."""
    scopes: list[Scope]
    """All that its parts ask for; shown before it is installed."""
    files: list[MarketplacePackageFile]
    """Every file."""
    contents: MarketplacePackageContents
    """What is in it, by kind."""
    dependencies: NotRequired[list[MarketplacePackageDependency]]
    """Packages that it needs."""
    requires: NotRequired[MarketplacePackageRequires]
    """What it needs of the platform."""
    tests: NotRequired[list[RelativePath]]
    """Contract tests that verification executes."""
    content_hash: Sha256
    """Hash of the canonical list of files; this is what is signed and pinned."""
    published_at: NotRequired[Instant]
    """When it was published."""
    tags: NotRequired[Tags]
    """Words to find it by."""
