function results = compare(address, varargin)
%COMPARE  The paper's experiment: the same exchanges with R = 0, 1 and 3 requests queued ahead.
%   results = wiregauge.pure.compare('serial:///dev/ttyACM0') measures with each R, prints the table of Augustyn and Tutaj and
%   returns a struct array of wiregauge.pure.measure. wiregauge.pure.draw(results) draws the histograms.
%
%   Options: 'Queue' ([0 1 3]), 'In' ([48 1000]): every combination is measured; and those of wiregauge.pure.measure and
%   wiregauge.pure.connect.
%
%   Example:
%     results = wiregauge.pure.compare('tcp://127.0.0.1:7700', 'In', 48, 'Count', 100);

wiregauge.internal.given(nargin, 1, Inf, 'results = wiregauge.pure.compare(''tcp://127.0.0.1:7700'', ''Count'', 100)');
options = wiregauge.internal.pairs(varargin, struct('Queue', [0 1 3], 'In', [48 1000], 'Out', 16, 'Count', 1000, ...
    'Protocol', 'wiregauge', 'Timeout', 2, 'Baud', 115200));
if strcmp(options.Protocol, 'echo')
    options.In = options.Out;
end
connection = wiregauge.pure.connect(address, 'Timeout', options.Timeout, 'Baud', options.Baud);
if strcmp(options.Protocol, 'wiregauge')
    about = wiregauge.pure.hello(connection);
    fprintf('%s at %s\n', about.name, address);
end
results = [];
for queue = options.Queue(:)'
    for in = options.In(:)'
        results = [results, wiregauge.pure.measure(connection, 'In', in, 'Out', options.Out, 'Count', options.Count, ...
            'Queue', queue, 'Protocol', options.Protocol)]; %#ok<AGROW>
    end
end
clear connection
wiregauge.pure.table(results);
end
