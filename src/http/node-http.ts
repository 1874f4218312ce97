/**
 * The parts of `node:http` that servers use. An `import` of that module reads all of its exports, and the getters of some load the `fetch` of Node with its
 * WebSocket client: 20 ms of CPU time and several megabytes at each start.
 */
export const { createServer, IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http');
