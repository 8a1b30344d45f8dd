"""Real MCP servers, friendly and hostile, and what Omni makes of them."""
