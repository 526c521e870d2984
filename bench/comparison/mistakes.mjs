// The tools of mistakes.py for the linter of mcp-ts-core. Prints the rules that it reports for each.
import { tool, z } from '@cyanheads/mcp-ts-core';
import { conflict, JsonRpcErrorCode } from '@cyanheads/mcp-ts-core/errors';
import { validateDefinitions } from '@cyanheads/mcp-ts-core/linter';

const RESERVED = 'The book is reserved by someone else.';
const common = {
  description: 'Reserve a book.',
  input: z.object({ book: z.string().describe('Id of the book.') }),
  output: z.object({ result: z.string().describe('What was reserved.') }),
  errors: [
    {
      reason: 'unknown_book',
      code: JsonRpcErrorCode.NotFound,
      when: 'There is no such book.',
      recovery: 'Call search_books to find the id.',
    },
  ],
};

function catalogue() {
  throw conflict(RESERVED);
}

const tools = [
  tool('throws_an_undeclared_code', {
    ...common,
    handler() {
      throw conflict(RESERVED);
    },
  }),
  tool('calls_a_function_that_throws_one', {
    ...common,
    handler(input) {
      catalogue();
      return { result: input.book };
    },
  }),
  tool('never_throws_what_it_declares', {
    ...common,
    handler(input) {
      return { result: input.book };
    },
  }),
];

const found = {};
for (const definition of tools) {
  const report = validateDefinitions({ tools: [definition] });
  found[definition.name] = [...report.errors, ...report.warnings].map((diagnostic) => diagnostic.rule);
}
process.stdout.write(`${JSON.stringify(found)}\n`);
