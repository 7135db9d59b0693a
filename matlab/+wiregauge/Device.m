classdef Device < handle
%DEVICE  An open device: exchanges of your own bytes, one by one, in batches, and in a pipeline.
%   wiregauge.open makes it. Bytes are uint8 (a char row is taken as its bytes); answers are uint8 columns. One request or
%   answer is a column of a matrix, because that is how MATLAB and Octave lay it out: what goes out together lies together.
%
%   Times are of the host's monotonic clock, in nanoseconds: start_ns since the device was opened, rtt_ns from the start of
%   sending to the last byte of the answer; device_rx_ticks and device_tx_ticks are the device's clock, 0 where it has none.
%
%   Errors: wiregauge:timeout, wiregauge:closed, wiregauge:link, wiregauge:argument and so on; docs/matlab.md lists them.
%
%   See also wiregauge.open.

    properties (SetAccess = private)
        % The address that it was opened with.
        address = '';
    end

    properties (SetAccess = private, Hidden = true)
        % The number that the MEX file knows it by; 0 when closed.
        number = uint64(0);
    end

    methods
        function dev = Device(address, options)
            %DEVICE  Use wiregauge.open.
            dev.address = address;
            dev.number = wiregauge.internal.opened(address, options);
        end

        function [reply, timing] = exchange(dev, request, replyBytes)
            %EXCHANGE  Send a request and wait for its answer.
            %   reply = dev.exchange(request, replyBytes) returns replyBytes bytes, a uint8 column. Without replyBytes the answer
            %   is as long as the request, or as long as the framing says. [reply, timing] also returns when: a struct.
            if nargin < 3
                replyBytes = [];
            end
            if nargout < 2
                reply = wiregauge_mex('exchange', dev.number, request, replyBytes);
            else
                [reply, timing] = wiregauge_mex('exchange', dev.number, request, replyBytes);
            end
        end

        function [replies, timing] = exchangeMany(dev, requests, replyBytes, depth)
            %EXCHANGEMANY  Exchange a whole batch, with several requests outstanding.
            %   replies = dev.exchangeMany(requests, replyBytes, depth) sends the columns of the uint8 matrix requests (or the elements
            %   of a cell array, if they differ in size), keeps depth of them outstanding (1 unless given), and returns a uint8
            %   matrix: column k is the answer to request k, with zeros behind shorter ones. All answers have replyBytes bytes ([]: as
            %   many as the longest request); where the framing tells their size, replyBytes is the most that is taken (4096).
            %   [replies, timing] also returns a struct of 1-by-K rows: the times, and bytes, the size of each answer.
            if nargin < 3
                replyBytes = [];
            end
            if nargin < 4
                depth = 1;
            end
            if nargout < 2
                replies = wiregauge_mex('exchangeMany', dev.number, requests, replyBytes, depth);
            else
                [replies, timing] = wiregauge_mex('exchangeMany', dev.number, requests, replyBytes, depth);
            end
        end

        function submit(dev, request, replyBytes)
            %SUBMIT  Send a request without waiting for its answer.
            %   dev.submit(request, replyBytes); dev.nextReply() takes the answers, in the order of the requests.
            if nargin < 3
                replyBytes = [];
            end
            wiregauge_mex('submit', dev.number, request, replyBytes);
        end

        function [reply, timing] = nextReply(dev)
            %NEXTREPLY  Wait for the answer to the oldest submitted request.
            [reply, timing] = wiregauge_mex('nextReply', dev.number);
        end

        function count = outstanding(dev)
            %OUTSTANDING  Submitted requests whose answers were not taken yet.
            count = wiregauge_mex('outstanding', dev.number);
        end

        function data = readStream(dev, bytes, transferBytes, queue)
            %READSTREAM  Take so many bytes of what the device sends.
            %   data = dev.readStream(bytes, transferBytes, queue) returns a uint8 column, read in transfers of transferBytes (65536
            %   unless given), queue (1) of them pending on USB. With the wiregauge protocol the device is told to begin and to end.
            if nargin < 3
                transferBytes = 65536;
            end
            if nargin < 4
                queue = 1;
            end
            data = wiregauge_mex('readStream', dev.number, bytes, transferBytes, queue);
        end

        function taken = writeStream(dev, data, transferBytes, queue)
            %WRITESTREAM  Send bytes to the device likewise; returns how many it took.
            if nargin < 3
                transferBytes = 65536;
            end
            if nargin < 4
                queue = 1;
            end
            taken = wiregauge_mex('writeStream', dev.number, data, transferBytes, queue);
        end

        function setTimeout(dev, seconds)
            %SETTIMEOUT  Change the timeout, from the next call on.
            wiregauge_mex('setTimeout', dev.number, seconds);
        end

        function about = about(dev)
            %ABOUT  What is known of the device: a struct with its name (responder), limits and clock, where it said so.
            about = wiregauge_mex('about', dev.number);
        end

        function answer = isOpen(dev)
            %ISOPEN  Whether the device can be used.
            answer = dev.number ~= 0;
        end

        function close(dev)
            %CLOSE  Close the device. Closing it again does nothing.
            if dev.number ~= 0
                number = dev.number;
                dev.number = uint64(0);
                wiregauge_mex('close', number);
            end
        end

        function delete(dev)
            % Called when the last reference is gone.
            close(dev);
        end
    end
end
