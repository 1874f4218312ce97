/** The Chromium of this machine. The tests install none. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const;

export const noChromium = 'no Chromium is installed: neither the variable CHROMIUM nor the path names one (chromium, google-chrome)';

/** `CHROMIUM`, or the first of the usual names on the path. `CHROMIUM=none` leaves the browser out. */
export function chromiumPath(env: NodeJS.ProcessEnv): string | undefined {
  const given = env['CHROMIUM'];
  if (given !== undefined && given !== '') return isProgram(given) ? given : undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A browser that reaches only loopback. */
export function launched(path: string): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
}
