function text = summaryText(run)
%SUMMARYTEXT  The display of a run: device, state, a table of its points, its directory.
%   text = wiregauge.internal.summaryText(run) returns lines. Of many points the first are shown.

shown = 20;
count = numel(run.points);
lines = {sprintf('  wiregauge %s run, %s: %s', run.kind, run.state, run.address)};
if count > 0
    [heads, formats, rows] = columns(run);
    lines{end + 1} = ['  ', sprintf('%12s', heads{:})];
    for k = 1:min(count, shown)
        cells = arrayfun(@(n) sprintf(formats{n}, rows(k, n)), 1:numel(heads), 'UniformOutput', false);
        lines{end + 1} = ['  ', sprintf('%12s', cells{:})]; %#ok<AGROW>
    end
end
if count > shown
    lines{end + 1} = sprintf('  and %d more points', count - shown);
elseif count == 0
    lines{end + 1} = '  no point was finished';
end
if ~isempty(run.problem)
    lines{end + 1} = ['  ', strrep(run.problem, sprintf('\n'), sprintf('\n  '))];
end
if isfield(run.conditions, 'note')
    lines{end + 1} = ['  note: ', strrep(run.conditions.note, sprintf('\n'), sprintf('\n  '))];
end
for k = 1:numel(run.missed)
    lines{end + 1} = ['  limit missed: ', run.missed{k}]; %#ok<AGROW>
end
lines{end + 1} = sprintf('  directory: %s', run.directory);
text = sprintf('%s\n', lines{:});
end

function [heads, formats, rows] = columns(run)
points = run.points(:);
switch run.kind
    case 'exchange'
        heads = {'OUT B', 'IN B', 'depth', 'p50 us', 'p99 us', 'max us', 'TRT us', 'lost %'};
        formats = {'%d', '%d', '%d', '%.1f', '%.1f', '%.1f', '%.1f', '%.3g'};
        rows = [[points.out_bytes]', [points.in_bytes]', [points.depth]', [points.p50]' / 1e3, [points.p99]' / 1e3, ...
            [points.max]' / 1e3, [points.trt_mean]' / 1e3, [points.lost]' * 100];
    case 'stream'
        heads = {'transfer B', 'queue', 'IN kB/s', 'OUT kB/s'};
        formats = {'%d', '%d', '%.1f', '%.1f'};
        rows = [[points.transfer_bytes]', [points.queue]', [points.in_bytes_s]' / 1e3, [points.out_bytes_s]' / 1e3];
    otherwise
        heads = {'rate Hz', 'notify B', 'needed us', 'overruns', 'underruns'};
        formats = {'%d', '%d', '%.1f', '%d', '%d'};
        rows = [[points.rate_hz]', [points.notify_bytes]', [points.needed_ns]' / 1e3, [points.overruns]', [points.underruns]'];
end
end
