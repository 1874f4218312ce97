"""The MCP server of mcp_agent.py: the tools, over stdio. What they did goes to the file of the agent's record."""
import common
import instrument

flush = instrument.start()
from mcp.server.mcpserver import MCPServer

common.log_executions()
server = MCPServer("warehouse-tools")
for function in common.TOOLS.values():
    server.tool()(function)
server.run("stdio")
flush()
