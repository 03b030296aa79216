export const HELP = `edge-python-repl: a Python REPL for AI agents, as an MCP server

Usage
  edge-python-repl [flags]            serve MCP, over stdio unless told otherwise
  edge-python-repl setup CLIENT       write the configuration of an MCP client
  edge-python-repl doctor             check Python, storage, port, tokens and E2B
  edge-python-repl token new NAME     make an access token for a shared server
  edge-python-repl sweep              end E2B sandboxes that no session owns

Flags, each also a setting of the environment
  --transport T    MCP_TRANSPORT   stdio (default), streamable-http or sse; the last two serve /mcp and /sse together
  --host H         MCP_HOST        address to listen on (127.0.0.1)
  --port P         MCP_PORT        port to listen on (8000)
  --python PATH    REPL_PYTHON     the Python to run code with (python3 on the PATH)
  --backend B      REPL_BACKEND    subprocess (this machine, the default) or e2b (cloud sandboxes, E2B_API_KEY)
  --storage S      REPL_STORAGE    memory, fs:PATH, sqlite:PATH or redis://HOST (a folder of your user data)
  --cwd PATH       REPL_CWD        folder in which sessions start
  --timeout S      REPL_TIMEOUT    seconds a call may run without a timeout of its own
  --auth A         REPL_AUTH       none, token or oauth
  -h, --help       -v, --version

Every other REPL_ setting has a flag as well: REPL_MAX_TIMEOUT is --max-timeout. The README lists them.
`;
