from http.server import HTTPServer, SimpleHTTPRequestHandler

HTTPServer(("", 9000), SimpleHTTPRequestHandler).serve_forever()
