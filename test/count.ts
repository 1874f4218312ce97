/**
 * Counts a run of Vitest. A test that did not run has failed, and its line names the hook that hid it. A test that names what the machine lacks for it
 * counts as neither, and its line has the reason.
 */
import type { SerializedError } from 'vitest';
import type { TestCase, TestModule, TestSuite } from 'vitest/node';

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** `unhandled`: errors outside of every test. `say` receives a line for each failure that the reporter of Vitest does not list. */
export function countOf(modules: readonly TestModule[], unhandled: readonly unknown[], say: (line: string) => void): Count {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const passed = tests.filter((test) => test.result().state === 'passed').length;
  const failed = tests.filter((test) => test.result().state === 'failed').length;
  const others = tests.filter((one) => one.result().state !== 'passed' && one.result().state !== 'failed');
  const hidden = others.filter((one) => reasonOf(one) === undefined);
  for (const test of others) {
    const reason = reasonOf(test);
    const name = `${test.module.relativeModuleId} > ${test.fullName}`;
    say(reason === undefined ? `FAILED  ${name}: ${whyHidden(test)}` : `LEFT OUT  ${name}: ${reason}`);
  }
  const broken = modules.flatMap((module) => [module, ...module.children.allSuites()]).filter((one) => one.errors().length > 0);
  for (const one of broken) say(`FAILED  ${nameOf(one)}: ${messageOf(one.errors())}`);
  return { passed, failed: failed + hidden.length + broken.length + unhandled.length };
}

/** The words of a test that skips itself. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}

function whyHidden(test: TestCase): string {
  for (let at: TestSuite | TestModule = test.parent; ; at = at.parent) {
    if (at.errors().length > 0) return `did not run, because a hook of ${nameOf(at)} failed: ${messageOf(at.errors())}`;
    if (at.type === 'module') return 'was skipped';
  }
}

function nameOf(one: TestSuite | TestModule): string {
  return one.type === 'module' ? one.relativeModuleId : `${one.module.relativeModuleId} > ${one.fullName}`;
}

function messageOf([first]: readonly SerializedError[]): string {
  return first?.message ?? 'no message';
}
