// Starts `mcpcore lint --lsp` for the Python files of a window.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async (context) => {
  const [command, ...args] = vscode.workspace.getConfiguration("mcpcore.lint").get("command");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command, args, options: { cwd: folder } };
  const documentSelector = ["file", "untitled"].map((scheme) => ({ scheme, language: "python" }));
  client = new LanguageClient("mcpcore", "mcpcore lint", server, { documentSelector });
  context.subscriptions.push(client);
  await client.start();
};

exports.deactivate = () => client?.stop();
