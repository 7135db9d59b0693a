classdef Device < handle
%DEVICE  An open device: exchange your own bytes, one at a time, in batches or in a pipeline.
%   Returned by wiregauge.open. Bytes are uint8 (a char row is used as bytes); answers are uint8 columns. One request or
%   answer is a column of a matrix, which is contiguous in MATLAB and Octave.
%
%   Times are of the host's monotonic clock, in nanoseconds: start_ns since the device was opened, rtt_ns from the start of
%   sending to the last byte of the answer; device_rx_ticks and device_tx_ticks are from the device clock, 0 without
%   one.
%
%   Text, to devices opened with 'Protocol' 'scpi' or 'text' or 'Framing' 'terminator': query sends a line and returns its reply;
%   writeline, readline and writeread are those of visadev, serialport and tcpclient.
%
%   Example:
%     dev = wiregauge.open('tcp://127.0.0.1:7700');
%     [reply, timing] = dev.exchange(uint8('ping'));
%     rtt = double(timing.rtt_ns) / 1e3                   % in us
%     replies = dev.exchangeMany(zeros(16, 100, 'uint8'), [], 4);
%     dev.close()
%
%   Errors: wiregauge:timeout, wiregauge:closed, wiregauge:link, wiregauge:argument and so on; docs/matlab.md lists them.
%
%   See also wiregauge.open.

    properties (SetAccess = private)
        % The address used to open it.
        address = '';
    end

    properties (SetAccess = private, Hidden = true)
        % Its number in the MEX file; 0 when closed.
        number = uint64(0);
        % 'scpi' or 'text' if messages are lines of text, else empty.
        lines = '';
    end

    methods
        function dev = Device(address, options, varargin)
            %DEVICE  Use wiregauge.open.
            wiregauge.internal.given(nargin, 2, 2, 'dev = wiregauge.open(''tcp://127.0.0.1:7700'')');
            dev.address = address;
            if any(strcmp(options.Protocol, {'scpi', 'text'}))
                dev.lines = options.Protocol;
            elseif strcmp(options.Framing, 'terminator')
                dev.lines = 'text';
            end
            dev.number = wiregauge.internal.opened(address, options);
        end

        function [reply, timing] = exchange(dev, request, replyBytes, varargin)
            %EXCHANGE  Send a request and wait for its answer.
            %   reply = dev.exchange(request, replyBytes) returns replyBytes bytes, a uint8 column. Without replyBytes
            %   the answer has the size of the request, or the size given by the framing. [reply, timing] also returns a
            %   struct of times.
            if nargin < 2 || nargin > 3
                wiregauge.internal.given(nargin - 1, 1, 2, 'reply = dev.exchange(request, replyBytes)');
            end
            if nargin < 3
                replyBytes = [];
            end
            try
                if nargout < 2
                    reply = wiregauge_mex('exchange', dev.number, request, replyBytes);
                else
                    [reply, timing] = wiregauge_mex('exchange', dev.number, request, replyBytes);
                end
            catch problem
                wiregauge.internal.fail(problem);
            end
        end

        function [reply, timing] = query(dev, message, varargin)
            %QUERY  Send a line of text and return the line that answers it.
            %   reply = dev.query('*IDN?') returns a char row without the end of the line. An earlier reply that was not read is
            %   dropped. [reply, timing] also returns a struct of times. dev.writeread is the same, named as in visadev.
            if nargin ~= 2
                wiregauge.internal.given(nargin - 1, 1, 1, 'reply = dev.query(''*IDN?'')');
            end
            bytes = wiregauge.internal.line(dev.lines, message);
            if strcmp(dev.lines, 'scpi') && any(strtrim(char(bytes)) == char(10))
                wiregauge.internal.fail('wiregauge:argument', ...
                    'a query has one message, not several lines; join commands with ; if need be');
            end
            [reply, timing] = dev.exchange(bytes);
            reply = wiregauge.internal.replyText(dev.lines, reply);
        end

        function [reply, timing] = writeread(dev, message, varargin)
            %WRITEREAD  As query: the name that visadev, serialport and tcpclient users know.
            if nargin ~= 2
                wiregauge.internal.given(nargin - 1, 1, 1, 'reply = dev.writeread(''*IDN?'')');
            end
            [reply, timing] = query(dev, message);
        end

        function writeline(dev, message, varargin)
            %WRITELINE  Send a line of text that the device does not answer, such as '*RST'.
            %   A reply that arrives nevertheless can be read with dev.readline(); the next query drops it.
            if nargin ~= 2
                wiregauge.internal.given(nargin - 1, 1, 1, 'dev.writeline(''*RST'')');
            end
            dev.write(wiregauge.internal.line(dev.lines, message));
        end

        function reply = readline(dev, varargin)
            %READLINE  Wait for one more line of text, such as the reply to writeline; a char row without the end of the line.
            if nargin ~= 1
                wiregauge.internal.given(nargin - 1, 0, 0, 'reply = dev.readline()');
            end
            wiregauge.internal.line(dev.lines, 'x');
            reply = wiregauge.internal.replyText(dev.lines, dev.read());
        end

        function write(dev, data, varargin)
            %WRITE  Send data that the device does not answer; not with the wiregauge protocol.
            if nargin ~= 2
                wiregauge.internal.given(nargin - 1, 1, 1, 'dev.write(data)');
            end
            call(dev, 'write', data);
        end

        function [reply, timing] = read(dev, replyBytes, varargin)
            %READ  Wait for one more reply, a uint8 column.
            %   data = dev.read(replyBytes), with the framing 'raw', waits for so many bytes; what arrives behind them is kept for the next
            %   call. With the other framings a reply is a whole message: dev.read().
            if nargin > 2
                wiregauge.internal.given(nargin - 1, 0, 1, 'reply = dev.read(replyBytes)');
            end
            if nargin < 2
                replyBytes = [];
            end
            [reply, timing] = call(dev, 'read', replyBytes);
        end

        function [replies, timing] = exchangeMany(dev, requests, replyBytes, depth, varargin)
            %EXCHANGEMANY  Exchange a batch, with several requests outstanding.
            %   replies = dev.exchangeMany(requests, replyBytes, depth) sends the columns of the uint8 matrix requests (or the elements
            %   of a cell array, if they differ in size), keeps depth of them outstanding (1 unless given), and returns a uint8
            %   matrix: column k is the answer to request k, padded with zeros. All answers have replyBytes bytes ([]: as
            %   many as the longest request); if the framing gives their size, replyBytes is the maximum (4096).
            %   [replies, timing] also returns a struct of 1-by-K rows: the times, and bytes, the size of each answer.
            if nargin < 2 || nargin > 4
                wiregauge.internal.given(nargin - 1, 1, 3, 'replies = dev.exchangeMany(requests, replyBytes, depth)');
            end
            if nargin < 3
                replyBytes = [];
            end
            if nargin < 4
                depth = 1;
            end
            if nargout < 2
                replies = call(dev, 'exchangeMany', requests, replyBytes, depth);
            else
                [replies, timing] = call(dev, 'exchangeMany', requests, replyBytes, depth);
            end
        end

        function submit(dev, request, replyBytes, varargin)
            %SUBMIT  Send a request without waiting for its answer.
            %   dev.submit(request, replyBytes); dev.nextReply() takes the answers, in the order of the requests.
            if nargin < 2 || nargin > 3
                wiregauge.internal.given(nargin - 1, 1, 2, 'dev.submit(request, replyBytes)');
            end
            if nargin < 3
                replyBytes = [];
            end
            try
                wiregauge_mex('submit', dev.number, request, replyBytes);
            catch problem
                wiregauge.internal.fail(problem);
            end
        end

        function [reply, timing] = nextReply(dev, varargin)
            %NEXTREPLY  Wait for the answer to the oldest submitted request.
            if nargin ~= 1
                wiregauge.internal.given(nargin - 1, 0, 0, 'reply = dev.nextReply()');
            end
            try
                [reply, timing] = wiregauge_mex('nextReply', dev.number);
            catch problem
                wiregauge.internal.fail(problem);
            end
        end

        function count = outstanding(dev, varargin)
            %OUTSTANDING  Number of submitted requests whose answers were not received yet.
            if nargin ~= 1
                wiregauge.internal.given(nargin - 1, 0, 0, 'count = dev.outstanding()');
            end
            count = call(dev, 'outstanding');
        end

        function data = readStream(dev, bytes, transferBytes, queue, varargin)
            %READSTREAM  Receive a stream from the device.
            %   data = dev.readStream(bytes, transferBytes, queue) returns a uint8 column, read in transfers of transferBytes (65536
            %   unless given), queue (1) of them pending on USB. With the wiregauge protocol the device gets a start and
            %   an end command.
            if nargin < 2 || nargin > 4
                wiregauge.internal.given(nargin - 1, 1, 3, 'data = dev.readStream(bytes, transferBytes, queue)');
            end
            if nargin < 3
                transferBytes = 65536;
            end
            if nargin < 4
                queue = 1;
            end
            data = call(dev, 'readStream', bytes, transferBytes, queue);
        end

        function taken = writeStream(dev, data, transferBytes, queue, varargin)
            %WRITESTREAM  Send a stream to the device.
            %   taken = dev.writeStream(data, transferBytes, queue) sends uint8 data in transfers of transferBytes (65536 unless given),
            %   queue (1) of them pending on USB, and returns the number of bytes sent. With the wiregauge protocol the device gets
            %   a start and an end command.
            if nargin < 2 || nargin > 4
                wiregauge.internal.given(nargin - 1, 1, 3, 'taken = dev.writeStream(data, transferBytes, queue)');
            end
            if nargin < 3
                transferBytes = 65536;
            end
            if nargin < 4
                queue = 1;
            end
            taken = call(dev, 'writeStream', data, transferBytes, queue);
        end

        function setTimeout(dev, seconds, varargin)
            %SETTIMEOUT  Change the timeout, from the next call on.
            if nargin ~= 2
                wiregauge.internal.given(nargin - 1, 1, 1, 'dev.setTimeout(seconds)');
            end
            wiregauge.internal.seconds('Timeout', seconds, 86400);
            call(dev, 'setTimeout', double(seconds));
        end

        function about = about(dev, varargin)
            %ABOUT  Information on the device: a struct with its name (responder), limits and clock, if it reports them.
            %   The fields: address, responder, bus, settings (of the link, a cell column of text), largest_request, largest_reply (B),
            %   tick_hz (0: no clock), tick_bits, abilities (a number: docs/protocol.md).
            if nargin ~= 1
                wiregauge.internal.given(nargin - 1, 0, 0, 'info = dev.about()');
            end
            about = call(dev, 'about');
            about.settings = strsplit(about.settings, sprintf('\n'))';
        end

        function answer = isOpen(dev)
            %ISOPEN  Whether the device can be used.
            answer = dev.number ~= 0;
        end

        function disp(dev)
            %DISP  Print the address and whether it is open.
            states = {'closed', 'open'};
            fprintf('  wiregauge device, %s: %s\n', states{1 + isOpen(dev)}, dev.address);
        end

        function close(dev)
            %CLOSE  Close the device. Closing it again does nothing.
            if dev.number ~= 0
                number = dev.number;
                dev.number = uint64(0);
                try
                    wiregauge_mex('close', number);
                catch problem
                    wiregauge.internal.fail(problem);
                end
            end
        end

        function delete(dev)
            % Called when the last reference is gone.
            close(dev);
        end
    end

    methods (Access = private)
        function varargout = call(dev, what, varargin)
            % The same of the MEX file; its errors begin with the method that was called. What is called for each single message
            % does so itself, for one more call takes 10 us in Octave.
            try
                [varargout{1:nargout}] = wiregauge_mex(what, dev.number, varargin{:});
            catch problem
                wiregauge.internal.fail(problem);
            end
        end
    end
end
