function [page, figures] = report(runs, varargin)
%REPORT  Make a page of one run or several, with all tables and figures, or write the figures as files.
%   page = wiregauge.report(run) writes report.html into the directory of the run and returns its path; of several runs (a cell
%   array) into the current folder. web(page) shows it in MATLAB. Each run is a run of this package, its directory, its name, or
%   'last'.
%
%   [page, figures] = wiregauge.report(run, 'Figures', 'folder') writes every figure into the folder and returns their paths in a cell
%   column; page is then empty unless 'Output' is given.
%
%   Options are the flags of `wiregauge report`:
%     'Output'     write the page to this file
%     'Figures'    write every figure to this folder
%     'Format'     of the figures: 'svg', 'png' or 'svg,png' (default)
%     'Force'      true: overwrite existing files
%     'Period', 'Deadline', 'Jitter'    count the missed cycles of this loop (seconds or text), as wiregauge.deadline does
%     'Plant', 'PID', 'Controller', 'Model' ...    a control loop, as text or numbers; see docs/control.md
%
%   The program draws the figures: no graphics of MATLAB or Octave are needed.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 2], 'Count', 100);
%     page = wiregauge.report(run)
%     [~, figures] = wiregauge.report(run, 'Figures', tempname(), 'Format', 'svg')
%
%   Errors: wiregauge:usage (no such run), wiregauge:link (a file cannot be written), wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.loadRun, wiregauge.plotHistogram.

wiregauge.internal.given(nargin, 1, Inf, 'page = wiregauge.report(''last'')');
words = wiregauge.internal.flags(varargin);
if any(strcmp(words, '--output=-')) || any(strcmp(words, '--quiet'))
    wiregauge.internal.fail('wiregauge:argument', 'Output must be a file, and Quiet false');
end
[status, output, said] = wiregauge.internal.command([{'report'}, words, {'--'}, wiregauge.internal.runNames(runs)]);
if status ~= 0
    wiregauge.internal.failed(status, said, '');
end
if nargout == 0
    fprintf('%s', output);
    return
end
files = regexp(output, '^wrote (.*) \([^()]*\)\s*$', 'tokens', 'lineanchors', 'dotexceptnewline');
files = cellfun(@(one) one{1}, files(:), 'UniformOutput', false);
is_page = false(numel(files), 1);
is_page(end) = isempty(regexp(files{end}, '\.(svg|png)$', 'once'));
page = '';
if is_page(end)
    [~, found] = fileattrib(files{end});
    page = found.Name;
end
figures = files(~is_page);
end
