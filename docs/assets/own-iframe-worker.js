// Browsers refuse to start a worker from a page that is opened as a file, and the search is a worker. On such a page, this runs
// the worker's script in a hidden frame instead.
"use strict";

class FrameWorker extends EventTarget {
  constructor(script) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.frame = frame;

    window.addEventListener("message", (event) => {
      if (event.source !== frame.contentWindow) return;
      const message = new MessageEvent("message", { data: event.data });
      this.dispatchEvent(message);
      this.onmessage?.(message);
    });

    const page = frame.contentDocument;
    page.open(); // which removes all listeners of the window
    this.loaded = new Promise((resolve) => frame.contentWindow.addEventListener("load", resolve));
    page.write(`<body><script>(function ${FrameWorker.prepare})()</script><script src="${encodeURI(script)}"></script></body>`);
    page.close();
  }

  // Gives the frame what the script expects of a worker. A frame cannot wait for scripts, so importScripts is a promise.
  static prepare() {
    window.postMessage = (data) => parent.postMessage(data, "*");
    window.importScripts = async (...urls) => {
      for (const url of urls) {
        await new Promise((resolve, reject) => {
          const script = document.createElement("script");
          Object.assign(script, { src: url, onload: resolve, onerror: reject });
          document.body.append(script);
        });
      }
    };
  }

  async postMessage(data) {
    await this.loaded;
    this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
