function point = pointFigures(kind, summary)
%POINTFIGURES  The most used figures of a point as fields of their own; NaN where one is undefined.
%   point = wiregauge.internal.pointFigures(kind, summary) returns the fields that `help wiregauge.loadRun` lists.

number = @wiregauge.internal.number;
given = summary.point;
switch kind
    case 'exchange'
        point = struct('out_bytes', given.out_bytes, 'in_bytes', given.in_bytes, 'depth', given.depth, ...
            'n', number(summary, 'counts', 'answered'));
        for name = {'p50', 'p90', 'p99', 'p999', 'mean'}
            point.(name{1}) = number(summary, 'rtt', name{1}, 'value');
        end
        for name = {'sd', 'min', 'max'}
            point.(name{1}) = number(summary, 'rtt', name{1});
        end
        point.trt_mean = number(summary, 'trt', 'mean', 'value');
        point.lost = number(summary, 'counts', 'exchanges') - point.n; % Without a correct response in time.
        point.lost_share = point.lost / number(summary, 'counts', 'exchanges');
        for name = {'exchanges_s', 'out_bytes_s', 'in_bytes_s'}
            point.(name{1}) = number(summary, 'throughput', name{1});
        end
    case 'stream'
        point = struct('direction', given.direction, 'transfer_bytes', given.transfer_bytes, 'queue', given.queue, ...
            'in_bytes_s', NaN, 'out_bytes_s', NaN, 'lost_bytes', 0);
        for k = 1:numel(summary.flows)
            flow = summary.flows(k);
            point.([flow.way, '_bytes_s']) = number(flow, 'rate', 'value');
            point.lost_bytes = point.lost_bytes + number(flow, 'counts', 'lost'); % NaN where nothing is known of one direction.
        end
    otherwise
        point = struct('rate_hz', given.rate_hz, 'notify_bytes', given.notify_bytes, 'preload_bytes', given.preload_bytes, ...
            'aim', given.aim, 'needed_ns', number(summary, 'needed_ns'), 'overruns', number(summary, 'overruns'), ...
            'underruns', number(summary, 'underruns'));
end
end
