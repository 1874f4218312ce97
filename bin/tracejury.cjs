#!/usr/bin/env node
/* Starts the program when Node is new enough. Node 12 can parse this file, so that an old Node says a sentence and not a syntax error. */
'use strict';
const fs = require('fs');
const nodeModule = require('module');
const os = require('os');
const path = require('path');
const url = require('url');

const majorLeast = 24;
const writableByOthers = 0o022;

if (parseInt(process.versions.node, 10) < majorLeast) {
  process.stderr.write('tracejury needs Node ' + majorLeast + ' or newer, and ' + process.execPath + ' is ' + process.versions.node + '.\n');
  process.exitCode = 1;
} else {
  // Keeps compiled code, and the source without its types, for the next start. NODE_COMPILE_CACHE names the folder, NODE_DISABLE_COMPILE_CACHE=1 turns it off.
  const folder = process.env.NODE_COMPILE_CACHE || ownFolder();
  if (folder !== undefined) nodeModule.enableCompileCache(folder);
  // A checkout has the source; the package has what was built of it.
  const source = path.join(__dirname, '..', 'src', 'cli', 'main.ts');
  const program = fs.existsSync(source) ? source : path.join(__dirname, '..', 'dist', 'src', 'cli', 'main.js');
  import(url.pathToFileURL(program).href);
}

/* Node runs what the cache holds. Its usual folder lies where another user could have made it first; this one must be this user's alone. */
function ownFolder() {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const folder = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'tracejury');
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = fs.lstatSync(folder);
    const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & writableByOthers) === 0);
    return found.isDirectory() && isOwn ? folder : undefined;
  } catch (error) {
    return undefined;
  }
}
